#include "app/draw/measure.h"
#include "app/draw/paint_parts.h"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

using State = NodeMark::State;

constexpr double kDimmed = 0.3;
constexpr double kTint = 0.16, kDarkTint = 0.30; ///< share of the pattern's colour in a node's fill

} // namespace

/// The mark that gives a box its colour: the strongest among the patterns that are shown.
const BoxMark* Painting::strongestMark(std::size_t box) const {
    if (!m_options.colours || box >= m_options.colours->marks.size())
        return nullptr;
    const BoxMark* strongest = nullptr;
    for (const BoxMark& mark : m_options.colours->marks[box])
        if (!m_options.hiddenSlots.contains(mark.slot) && (!strongest || mark.state > strongest->state))
            strongest = &mark;
    return strongest;
}

Painting::Look Painting::lookOf(std::size_t index) const {
    const Box& box = m_scene.diagram.boxes[index];
    Look look{m_theme.nodeFill, m_theme.nodeBorder};
    if (box.kind == Box::Kind::module)
        look = {m_theme.moduleFill, m_theme.moduleBorder, 1.2};
    if (box.expanded) {
        std::int32_t depth = 0;
        for (std::int32_t parent = box.parent; parent >= 0; parent = m_scene.diagram.boxes[at(parent)].parent)
            ++depth;
        look = {depth % 2 == 0 ? m_theme.containerFill : m_theme.background, m_theme.containerBorder};
    }
    if (box.kind == Box::Kind::value) {
        const QColor fills[] = {m_theme.nodeFill, m_theme.inputFill, m_theme.outputFill,
                                m_theme.parameterFill, m_theme.copyFill};
        look = {fills[static_cast<std::size_t>(box.role)], m_theme.valueBorder};
    }
    const SceneColours* colours = m_options.colours;
    if (const BoxMark* mark = strongestMark(index); mark && box.kind == Box::Kind::node)
        applyMark(look, *mark);
    if (colours && index < colours->shares.size() && !box.expanded && box.kind != Box::Kind::value) {
        const double share = colours->shares[index];
        // A root: small ones can still be told from nothing.
        look.fill = std::isnan(share) ? m_theme.nodeFill : m_theme.overlay(std::sqrt(share));
    }
    if (const Highlight kind = highlightOf(index); kind >= Highlight::added && !box.expanded)
        look = {mixed(look.fill, colourOf(kind), m_theme.dark ? 0.35 : 0.2), colourOf(kind), 1.6};
    return look;
}

void Painting::applyMark(Look& look, const BoxMark& mark) const {
    const QColor slot = m_theme.slot(mark.slot);
    const double tint = m_theme.dark ? kDarkTint : kTint;
    switch (mark.state) {
    case State::applied:
    case State::present:
        look = {mixed(m_theme.nodeFill, slot, tint), slot, 1.3};
        break;
    case State::offered:
        look = {mixed(m_theme.nodeFill, slot, tint / 2), slot, 1.3, Qt::DashLine};
        break;
    case State::rejected:
        look = {m_theme.nodeFill, mixed(m_theme.nodeBorder, slot, 0.5), 1, Qt::DotLine};
        break;
    case State::refused:
    case State::none:
        break;
    }
}

void Painting::shape(const QRectF& rect, const Box& box, const Look& look) {
    m_painter.setBrush(look.fill);
    m_painter.setPen(QPen(look.border, look.borderWidth, look.style));
    if (!m_isFine) {
        m_painter.fillRect(rect, look.fill);
        if (pixels(rect.height()) > 5) {
            m_painter.setPen(QPen(look.border, 0));
            m_painter.setBrush(Qt::NoBrush);
            m_painter.drawRect(rect);
        }
        return;
    }
    const double radius = box.kind == Box::Kind::value ? std::min(rect.height() / 2, 14.0) : kCornerRadius;
    m_painter.drawRoundedRect(rect, radius, radius);
}

/// Cards behind a box that stands for several.
void Painting::stack(const QRectF& rect, const Box& box, const Look& look) {
    if (box.count <= 1 || box.expanded)
        return;
    Look behind = look;
    behind.fill = mixed(look.fill, look.border, 0.25);
    for (const int card : {2, 1})
        shape(rect.translated(card * kStackOffset, card * kStackOffset), box, behind);
}

void Painting::connector(std::size_t index) {
    const Box& box = m_scene.diagram.boxes[index];
    const QRectF& own = m_scene.boxes[index];
    const QRectF& user = m_scene.boxes[at(box.beside)];
    const bool isLeft = own.center().x() < user.center().x();
    const double y = std::clamp(own.center().y(), user.top() + 4, user.bottom() - 4);
    m_painter.setPen(QPen(m_theme.edge, m_isFine ? 1.1 : 0));
    m_painter.drawLine(QPointF(isLeft ? own.right() : own.left(), own.center().y()),
                       QPointF(isLeft ? user.left() : user.right(), y));
}

/// The pattern's colour along a node's left side; hollow where the rewrite is not applied.
void Painting::strip(const QRectF& rect, const BoxMark& mark) {
    const QColor slot = m_theme.slot(mark.slot);
    const double radius = m_isFine ? 2 : 0;
    if (mark.state == State::refused) {
        m_painter.setPen(QPen(slot, 1.6));
        m_painter.setBrush(m_theme.nodeFill);
        m_painter.drawEllipse(QPointF(rect.right() - 8, rect.top() + 8), 3.5, 3.5);
        return;
    }
    const QRectF place(rect.left() + 3, rect.top() + 4, kStripWidth, rect.height() - 8);
    const bool isSolid = mark.state == State::applied || mark.state == State::present;
    m_painter.setPen(isSolid ? QPen(Qt::NoPen) : QPen(slot, 1));
    m_painter.setBrush(isSolid ? QBrush(slot) : QBrush(Qt::NoBrush));
    m_painter.drawRoundedRect(place, radius, radius);
}

/// A module's patterns as pieces of a bar along its lower side, as wide as they have sites.
void Painting::bar(const QRectF& rect, std::size_t index) {
    const std::vector<BoxMark>& marks = m_options.colours->marks[index];
    double sites = 0;
    for (const BoxMark& mark : marks)
        if (!m_options.hiddenSlots.contains(mark.slot) && mark.state != State::refused)
            sites +=
                std::sqrt(static_cast<double>(mark.sites)); // many of one pattern leave room for the others
    if (sites == 0)
        return;
    const double height = std::min(std::max(kBarHeight, 3 / m_options.scale), rect.height() / 3);
    const double inset = kCornerRadius;
    double x = rect.left() + inset;
    const double width = rect.width() - 2 * inset;
    for (const BoxMark& mark : marks) {
        if (m_options.hiddenSlots.contains(mark.slot) || mark.state == State::refused)
            continue;
        const double part = width * std::sqrt(static_cast<double>(mark.sites)) / sites;
        const QRectF piece(x, rect.bottom() - height - 3, std::max(1.0, part - 2), height);
        const QColor slot = m_theme.slot(mark.slot);
        const bool isSolid = mark.state == State::applied || mark.state == State::present;
        if (isSolid) {
            m_painter.fillRect(piece, slot);
        } else {
            m_painter.setPen(
                QPen(slot, m_isFine ? 1 : 0, mark.state == State::rejected ? Qt::DotLine : Qt::SolidLine));
            m_painter.setBrush(Qt::NoBrush);
            m_painter.drawRect(piece.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        x += part;
    }
}

void Painting::highlight(const QRectF& rect, std::size_t index) {
    const Highlight kind = highlightOf(index);
    if (kind == Highlight::none || kind >= Highlight::added)
        return;
    const QColor colour = colourOf(kind);
    const double width = std::max(kind == Highlight::selected ? 2.6 : 2.0, 2 / m_options.scale);
    const double away = width / 2 + 1.5;
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(QPen(colour, width));
    m_painter.drawRoundedRect(rect.adjusted(-away, -away, away, away), kCornerRadius + 2, kCornerRadius + 2);
}

void Painting::box(std::size_t index) {
    const Box& box = m_scene.diagram.boxes[index];
    const QRectF& rect = m_scene.boxes[index];
    const Look look = lookOf(index);
    m_painter.setOpacity(isDimmed(index) ? kDimmed : 1);
    if (box.beside >= 0)
        connector(index);
    stack(rect, box, look);
    shape(rect, box, look);
    const bool hasMarks = m_options.colours && index < m_options.colours->marks.size();
    if (box.kind == Box::Kind::module && hasMarks)
        bar(rect, index);
    if (const BoxMark* mark = strongestMark(index);
        mark && box.kind == Box::Kind::node && pixels(kStripWidth) > 1)
        strip(rect, *mark);
    if (m_showsTexts)
        texts(rect, index, look.fill);
    else
        largeTitle(rect, index, look.fill);
    if (m_showsTexts)
        total(rect, index);
    highlight(rect, index);
}

void Painting::boxes() {
    m_painter.setRenderHint(QPainter::Antialiasing, m_isFine);
    for (std::size_t i = 0; i < m_scene.boxes.size(); ++i)
        if (!m_scene.diagram.boxes[i].expanded && isVisible(m_scene.boxes[i]))
            box(i);
    m_painter.setOpacity(1);
}

} // namespace workbench
