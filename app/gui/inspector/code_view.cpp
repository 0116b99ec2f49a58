#include "app/gui/inspector/code_view.h"

#include "app/draw/theme.h"

#include <QtGui/QFontDatabase>
#include <QtGui/QPainter>
#include <QtGui/QTextBlock>
#include <QtWidgets/QScrollBar>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kMostLines = 16;

} // namespace

/// The strip with the numbers: painted by the view, scrolled with it.
class CodeView::Numbers : public QWidget {
public:
    explicit Numbers(CodeView* view) : QWidget(view), m_view(view) {}

protected:
    void paintEvent(QPaintEvent* event) override { m_view->paintNumbers(event); }

private:
    CodeView* m_view;
};

CodeView::CodeView(QWidget* parent) : QPlainTextEdit(parent), m_numbers(new Numbers(this)) {
    setReadOnly(true);
    setLineWrapMode(NoWrap);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setTabChangesFocus(true);
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy)
            m_numbers->scroll(0, dy);
        else
            m_numbers->update(0, rect.y(), m_numbers->width(), rect.height());
    });
}

int CodeView::numbersWidth() const {
    if (m_isDiff)
        return 0;
    const int last = m_firstLine + std::max(0, blockCount() - 1);
    return fontMetrics().horizontalAdvance(QString::number(last)) + 12;
}

void CodeView::placeNumbers() {
    setViewportMargins(numbersWidth(), 0, 0, 0);
    const QRect inside = contentsRect();
    m_numbers->setGeometry(inside.left(), inside.top(), numbersWidth(), inside.height());
}

void CodeView::setVisibleLines(int lines) {
    const int bar = horizontalScrollBar()->sizeHint().height();
    setFixedHeight(fontMetrics().lineSpacing() * std::clamp(lines, 1, kMostLines) + bar + 12);
}

void CodeView::showSource(const SourceView& source) {
    QStringList lines;
    for (const std::string& line : source.lines)
        lines << QString::fromStdString(line);
    m_isDiff = false;
    m_firstLine = source.firstLine;
    m_marked =
        source.line >= source.firstLine && source.line < source.firstLine + lines.size() ? source.line : 0;
    setPlainText(lines.join('\n'));
    setVisibleLines(int(lines.size()));
    placeNumbers();
    mark();
}

void CodeView::showDiff(const QString& diff) {
    m_isDiff = true;
    m_marked = 0;
    setPlainText(diff.endsWith('\n') ? diff.chopped(1) : diff);
    setVisibleLines(blockCount());
    placeNumbers();
    mark();
}

void CodeView::mark() {
    const Theme& theme =
        palette().color(QPalette::Base).lightness() < 128 ? Theme::darkOne() : Theme::light();
    QList<QTextEdit::ExtraSelection> marks;
    const auto paint = [&](const QTextBlock& block, QColor colour) {
        colour.setAlpha(60);
        QTextEdit::ExtraSelection one;
        one.cursor = QTextCursor(block);
        one.format.setBackground(colour);
        one.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << one;
    };
    if (m_marked > 0) {
        const QTextBlock block = document()->findBlockByNumber(m_marked - m_firstLine);
        paint(block, theme.selection);
        setTextCursor(QTextCursor(block));
        centerCursor();
    }
    for (QTextBlock block = document()->begin(); m_isDiff && block.isValid(); block = block.next()) {
        const QString text = block.text();
        if (text.startsWith('+') && !text.startsWith("+++"))
            paint(block, theme.added);
        else if (text.startsWith('-') && !text.startsWith("---"))
            paint(block, theme.removed);
    }
    setExtraSelections(marks);
}

void CodeView::paintNumbers(QPaintEvent* event) {
    QPainter painter(m_numbers);
    painter.fillRect(event->rect(), palette().color(QPalette::Base));
    painter.setFont(font());
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
        if (place.top() > event->rect().bottom())
            break;
        const int number = m_firstLine + block.blockNumber();
        painter.setPen(palette().color(number == m_marked ? QPalette::Text : QPalette::PlaceholderText));
        painter.drawText(QRectF(0, place.top(), m_numbers->width() - 6, place.height()), Qt::AlignRight,
                         QString::number(number));
    }
}

void CodeView::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    placeNumbers();
    if (m_marked > 0)
        centerCursor();
}

void CodeView::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        mark();
}

} // namespace workbench::gui
