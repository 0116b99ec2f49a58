#include "app/gui/document/elided_label.h"

#include <QtGui/QPainter>

#include <algorithm>

namespace workbench::gui {

ElidedLabel::ElidedLabel(Qt::TextElideMode mode, QWidget* parent) : QLabel(parent), m_mode(mode) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::say(const QString& text) {
    setText(text);
    setToolTip(text);
    updateGeometry();
}

QStringList ElidedLabel::shownLines() const {
    QStringList lines = text().split('\n');
    for (QString& line : lines)
        line = fontMetrics().elidedText(line, m_mode, contentsRect().width());
    return lines;
}

QSize ElidedLabel::sizeHint() const {
    int width = 0;
    const QStringList lines = text().split('\n');
    for (const QString& line : lines)
        width = std::max(width, fontMetrics().horizontalAdvance(line));
    return {width, static_cast<int>(lines.size()) * fontMetrics().lineSpacing()};
}

QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().horizontalAdvance("…"), sizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    QRect line(contentsRect().topLeft(), QSize(contentsRect().width(), fontMetrics().lineSpacing()));
    for (const QString& shown : shownLines()) {
        painter.drawText(line, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter), shown);
        line.translate(0, line.height());
    }
}

} // namespace workbench::gui
