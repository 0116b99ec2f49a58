#pragma once

#include <QtWidgets/QLayout>

#include <vector>

namespace workbench::gui {

/// Items in a row that wraps, so that a bar of chips fits a narrow dock.
class FlowLayout : public QLayout {
public:
    explicit FlowLayout(QWidget* parent);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return minimumSize(); }
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;

private:
    /// Places the items when `move`; returns the height that they need.
    int arrange(const QRect& rect, bool move) const;
    std::vector<QLayoutItem*> m_items; ///< owned
};

} // namespace workbench::gui
