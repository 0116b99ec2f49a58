#pragma once

#include <QtGui/QWheelEvent>
#include <QtWidgets/QTextBrowser>

namespace workbench::gui {

/// Rich text as high as it needs to be, with links; long names wrap anywhere.
class TextBlock : public QTextBrowser {
    Q_OBJECT
public:
    explicit TextBlock(QWidget* parent = nullptr);
    void setMarkup(const QString& html);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override { event->ignore(); } ///< the panel around it scrolls

private:
    void fit();

    QString m_ownName; ///< the accessible name when nobody gave another: its first line
};

} // namespace workbench::gui
