#pragma once

#include <QtWidgets/QLabel>

namespace workbench::gui {

/// Text whose lines are cut where there is no room for them; whole as its tip. Takes no more room than there
/// is: for what is longer than a narrow dock is wide.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(Qt::TextElideMode mode, QWidget* parent = nullptr);

    void say(const QString& text);
    QStringList shownLines() const; ///< as they are painted

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Qt::TextElideMode m_mode;
};

} // namespace workbench::gui
