#include "app/draw/measure.h"
#include "app/draw/paint_parts.h"
#include "app/draw/shaped_text.h"

#include <QFontMetricsF>

#include <algorithm>

namespace workbench {
namespace {

constexpr double kReadable = 9.5; ///< pixels on the screen that a title should have far out
constexpr double kLeast = 5;      ///< below, a text is a smudge
constexpr double kSignRoom = 8;   ///< of the sign at the right border that opens a module
constexpr double kSmaller = 0.75; ///< from one size of titles to the next

} // namespace

/// Title, subtitle and details, centred as a block.
void Painting::texts(const QRectF& rect, std::size_t index, const QColor& fill) {
    const Box& box = m_scene.diagram.boxes[index];
    const BoxText& text = m_scene.texts[index];
    const bool isPill = box.beside >= 0;
    const double titleLine = isPill ? kTextLine : kTitleLine;
    const double lines = static_cast<double>(text.details.size()) + (text.subtitle.isEmpty() ? 0 : 1);
    const double barSpace = box.kind == Box::Kind::module ? kBarHeight + 2 : 0;
    double y = rect.top() + (rect.height() - barSpace - titleLine - lines * kTextLine) / 2;
    const QColor ink = contrast(fill, m_theme.text) >= 4.5 ? m_theme.text : m_theme.textOn(fill);
    const QColor muted = contrast(fill, m_theme.mutedText) >= 4.5 ? m_theme.mutedText : ink;
    m_painter.setPen(ink);
    const double badge = box.count > 1 ? badgeWidth(box) + 10 : 0;
    paintLine(m_painter, QRectF(rect.left(), y, rect.width() - badge, titleLine), Qt::AlignCenter, text.title,
              isPill ? kTextPixels : kTitlePixels, !isPill);
    y += titleLine;
    m_painter.setPen(muted);
    if (!text.subtitle.isEmpty()) {
        paintLine(m_painter, QRectF(rect.left(), y, rect.width(), kTextLine), Qt::AlignCenter, text.subtitle,
                  kTextPixels);
        y += kTextLine;
    }
    for (const QString& detail : text.details) {
        paintLine(m_painter, QRectF(rect.left(), y, rect.width(), kTextLine), Qt::AlignCenter, detail,
                  kTextPixels);
        y += kTextLine;
    }
    badgeOf(rect, box, fill);
}

/// "×28" in the upper right corner.
void Painting::badgeOf(const QRectF& rect, const Box& box, const QColor& fill) {
    if (box.count <= 1)
        return;
    const double width = badgeWidth(box);
    const QRectF place(rect.right() - width - 6, rect.top() + 6, width, 17);
    const QColor plate = m_theme.dark ? fill.lighter(170) : fill.darker(190);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(plate);
    m_painter.drawRoundedRect(place, 8, 8);
    m_painter.setPen(m_theme.textOn(plate));
    paintLine(m_painter, place, Qt::AlignCenter, countBadge(box), kBadgePixels, true);
}

/// Far out the title takes the whole box, as large as it fits and no larger than reads well.
void Painting::largeTitle(const QRectF& rect, std::size_t index, const QColor& fill) {
    const Box& box = m_scene.diagram.boxes[index];
    const BoxText& text = m_scene.texts[index];
    if (text.titleWidth <= 0)
        return;
    const double normal = box.beside >= 0 ? kTextPixels : kTitlePixels; // what titleWidth is of
    const QString title = box.count > 1 ? text.title + " " + countBadge(box) : text.title;
    const double width = text.titleWidth + (box.count > 1 ? badgeWidth(box) + 4 : 0);
    const double room = rect.width() - 8 - (box.expandable ? 2 * kSignRoom : 0);
    const double fits = std::min(room / width, (rect.height() - 6) / kTitleLine);
    if (fits <= 0)
        return;
    // In steps: titles of boxes that differ a little are of one size.
    double size = std::max(normal, kReadable / m_options.scale);
    while (size > normal * fits)
        size *= kSmaller;
    if (pixels(size) < kLeast)
        return;
    m_painter.setPen(contrast(fill, m_theme.text) >= 4.5 ? m_theme.text : m_theme.textOn(fill));
    paintLine(m_painter, rect, Qt::AlignCenter, title, size, box.beside < 0);
}

/// The overlay's number on the box's upper border.
void Painting::total(const QRectF& rect, std::size_t index) {
    if (!m_options.colours || index >= m_options.colours->totals.size() ||
        m_options.colours->totals[index].isEmpty())
        return;
    const Box& box = m_scene.diagram.boxes[index];
    if (box.kind == Box::Kind::value)
        return;
    const QString& text = m_options.colours->totals[index];
    const double width = QFontMetricsF(drawingFont(kBadgePixels, true)).horizontalAdvance(text) + 12;
    const QRectF place(rect.right() - width + 6, rect.top() - 14, width, 17); // above the count of a fold
    m_painter.setPen(QPen(m_theme.nodeBorder, 1));
    m_painter.setBrush(m_theme.background);
    m_painter.drawRoundedRect(place, 8, 8);
    m_painter.setPen(m_theme.text);
    paintLine(m_painter, place, Qt::AlignCenter, text, kBadgePixels, true);
}

void Painting::containers() {
    m_painter.setRenderHint(QPainter::Antialiasing, m_isFine);
    for (std::size_t i = 0; i < m_scene.boxes.size(); ++i) {
        const Box& box = m_scene.diagram.boxes[i];
        if (!box.expanded || !isVisible(m_scene.boxes[i]))
            continue;
        shape(m_scene.boxes[i], box, lookOf(i));
        highlight(m_scene.boxes[i], i);
    }
}

void Painting::containerTitle(std::size_t index) {
    const Box& box = m_scene.diagram.boxes[index];
    const BoxText& text = m_scene.texts[index];
    const QRectF& rect = m_scene.boxes[index];
    const QFont titleFont = drawingFont(kTitlePixels, true);
    const QFont textFont = drawingFont(kTextPixels);
    const QString title = box.count > 1 ? text.title + " " + countBadge(box) : text.title;
    const double titleWidth = QFontMetricsF(titleFont).horizontalAdvance(title);
    const double subtitleWidth = QFontMetricsF(textFont).horizontalAdvance(text.subtitle);
    const QColor fill = lookOf(index).fill;
    const QRectF place(rect.left() + 12, rect.top() + 7, titleWidth, kTitleLine);
    // Edges on their way in pass behind the texts.
    m_painter.fillRect(place.adjusted(-2, 0, subtitleWidth + 12, 0), fill);
    m_painter.setPen(m_theme.text);
    paintLine(m_painter, place, Qt::AlignLeft | Qt::AlignVCenter, title, kTitlePixels, true);
    m_painter.setPen(m_theme.mutedText);
    paintLine(m_painter, QRectF(place.right() + 8, place.top() + 1, subtitleWidth + 4, kTitleLine),
              Qt::AlignLeft | Qt::AlignVCenter, text.subtitle, kTextPixels);
    if (m_options.colours && index < m_options.colours->totals.size())
        total(rect, index);
}

/// Opened boxes that are wide enough say their name; only the innermost where their heads are thinner than a
/// name.
void Painting::chooseFarTitles() {
    m_farTitles.assign(m_scene.boxes.size(), 0);
    const bool headsHold = pixels(kHeader) >= kReadable * 1.2;
    std::vector<char> isTaken(m_scene.boxes.size(), 0); // something inside has its name
    for (std::size_t i = m_scene.boxes.size(); i-- > 0;) {
        const Box& box = m_scene.diagram.boxes[i];
        if (!box.expanded)
            continue;
        const double width = m_scene.texts[i].titleWidth / kTitlePixels * kReadable + 12;
        const bool fits =
            pixels(m_scene.boxes[i].width()) >= width && pixels(m_scene.boxes[i].height()) >= 2 * kReadable;
        m_farTitles[i] = fits && (headsHold || !isTaken[i]);
        if (box.parent >= 0 && (isTaken[i] || m_farTitles[i]))
            isTaken[at(box.parent)] = 1;
    }
}

void Painting::farTitle(std::size_t index) {
    const double size = kReadable / m_options.scale;
    const double width = m_scene.texts[index].titleWidth / kTitlePixels * size;
    const QRectF& rect = m_scene.boxes[index];
    // In the head, where no boxes are; lower only where the head is thinner than the text.
    const double height = size * 1.5;
    const QRectF plate(rect.center().x() - width / 2 - size / 2,
                       rect.top() + std::max(0.0, (kHeader - height) / 2), width + size, height);
    QColor fill = m_theme.background;
    fill.setAlphaF(0.85F);
    m_painter.fillRect(plate, fill);
    m_painter.setPen(m_theme.text);
    paintLine(m_painter, plate, Qt::AlignCenter, m_scene.texts[index].title, size, true);
}

void Painting::containerTitles() {
    const bool isFar = pixels(kTitlePixels) < kLeast + 1;
    if (isFar)
        chooseFarTitles();
    for (std::size_t i = 0; i < m_scene.boxes.size(); ++i) {
        if (!m_scene.diagram.boxes[i].expanded || !isVisible(m_scene.boxes[i]))
            continue;
        if (!isFar)
            containerTitle(i);
        else if (m_farTitles[i])
            farTitle(i);
    }
}

} // namespace workbench
