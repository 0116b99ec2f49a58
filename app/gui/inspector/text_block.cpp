#include "app/gui/inspector/text_block.h"

#include <QtGui/QAbstractTextDocumentLayout>
#include <QtGui/QTextOption>

#include <cmath>

namespace workbench::gui {

TextBlock::TextBlock(QWidget* parent) : QTextBrowser(parent) {
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    document()->setDocumentMargin(0);
    viewport()->setAutoFillBackground(false);
    setTabChangesFocus(true);
}

void TextBlock::setMarkup(const QString& html) {
    setHtml(html);
    if (accessibleName().isEmpty() || accessibleName() == m_ownName)
        setAccessibleName(m_ownName = toPlainText().trimmed().section('\n', 0, 0));
    // Else the first resize event knows the width: laying out for a guess costs as much again.
    if (isVisible())
        fit();
}

void TextBlock::fit() {
    document()->setTextWidth(viewport()->width());
    setFixedHeight(static_cast<int>(std::ceil(document()->size().height())));
}

void TextBlock::resizeEvent(QResizeEvent* event) {
    QTextBrowser::resizeEvent(event);
    fit();
}

QSize TextBlock::sizeHint() const {
    return {200, height()};
}

QSize TextBlock::minimumSizeHint() const {
    return {80, height()};
}

} // namespace workbench::gui
