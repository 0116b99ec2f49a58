#include "app/gui/canvas/canvas_tiles.h"

#include <cmath>

namespace workbench::gui {
namespace {

constexpr int kSide = 512;       // device-independent pixels
constexpr double kFrameMs = 5;   // for sharp tiles in a frame of a movement: the rest of it is copying
constexpr double kMemory = 0.75; // of the tiles' mean time, from one to the next

QRect rectOf(std::pair<int, int> key) {
    return {key.first * kSide, key.second * kSide, kSide, kSide};
}

int columnOf(int x) {
    return static_cast<int>(std::floor(static_cast<double>(x) / kSide));
}

template <class Visit>
void eachTile(const QRect& rect, const Visit& visit) {
    for (int row = columnOf(rect.top()); row <= columnOf(rect.bottom()); ++row)
        for (int column = columnOf(rect.left()); column <= columnOf(rect.right()); ++column)
            visit(std::pair(column, row));
}

} // namespace

double CanvasTiles::msSince(std::chrono::nanoseconds start) const {
    return std::chrono::duration<double, std::milli>(m_clock() - start).count();
}

void CanvasTiles::clear() {
    m_sharp = {};
    m_last = {};
    m_tileMs = 0;
}

void CanvasTiles::outdate() {
    startLevel(m_sharp.zoom, m_sharp.pixelRatio);
}

/// One that was never whole shows less than the one before it.
void CanvasTiles::startLevel(double zoom, double pixelRatio) {
    if (m_sharp.isWhole || m_last.tiles.empty())
        m_last = std::move(m_sharp);
    m_sharp = {zoom, pixelRatio, {}, false};
}

/// A margin of one tile is kept: whoever pans goes back and forth.
void CanvasTiles::forgetFarAway(const QRect& inSight) {
    const QRect kept = inSight.adjusted(-kSide, -kSide, kSide, kSide);
    std::erase_if(m_sharp.tiles, [&](const auto& tile) { return !kept.intersects(rectOf(tile.first)); });
}

std::vector<CanvasTiles::Key> CanvasTiles::missingOf(const QRegion& region) const {
    std::vector<Key> missing;
    eachTile(region.boundingRect(), [&](Key key) {
        if (!m_sharp.tiles.contains(key) && region.intersects(rectOf(key)))
            missing.push_back(key);
    });
    return missing;
}

void CanvasTiles::makeTile(Key key, const PaintPart& paintPart) {
    const std::chrono::nanoseconds start = m_clock();
    const QRect rect = rectOf(key);
    const double zoom = m_sharp.zoom;
    QImage image((QSizeF(rect.size()) * m_sharp.pixelRatio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(m_sharp.pixelRatio);
    QPainter painter(&image);
    painter.translate(-rect.topLeft());
    painter.scale(zoom, zoom);
    paintPart(painter, QRectF(QPointF(rect.topLeft()) / zoom, QSizeF(rect.size()) / zoom));
    painter.end();
    m_sharp.tiles[key] = std::move(image);
    const double took = msSince(start);
    m_tileMs = m_tileMs == 0 ? took : kMemory * m_tileMs + (1 - kMemory) * took;
}

/// The last level where the sharp one has nothing; `region` is in the zoomed drawing.
void CanvasTiles::stretch(QPainter& painter, const QRegion& region, const Place& place,
                          const QColor& background) {
    painter.save();
    painter.setClipRegion(region.translated(-place.sight.topLeft()));
    painter.fillRect(region.boundingRect().translated(-place.sight.topLeft()), background);
    const double by = place.zoom / m_last.zoom;
    for (const auto& [key, image] : m_last.tiles) {
        const QRect from = rectOf(key);
        // Borders that neighbours share are rounded alike: no gaps.
        const QPoint start(qRound(from.left() * by), qRound(from.top() * by));
        const QPoint end(qRound((from.left() + kSide) * by), qRound((from.top() + kSide) * by));
        const QRect to(start, QSize(end.x() - start.x(), end.y() - start.y()));
        if (region.intersects(to))
            painter.drawImage(to.translated(-place.sight.topLeft()), image);
    }
    painter.restore();
}

bool CanvasTiles::paint(QPainter& painter, const QRegion& region, const Place& place, Haste haste,
                        const QColor& background, const PaintPart& paintPart) {
    const bool isOther = place.zoom != m_sharp.zoom || place.pixelRatio != m_sharp.pixelRatio;
    if (isOther)
        startLevel(place.zoom, place.pixelRatio);
    const QPoint origin = place.sight.topLeft();
    const QRegion wanted = region.translated(origin);
    const std::vector<Key> missing = missingOf(wanted);
    // A zoom that goes on wants another size in the next frame: tiles are for when they are all done in time.
    m_waits = haste == Haste::brief && isOther && !m_last.tiles.empty() &&
              m_tileMs * static_cast<double>(missing.size()) > kFrameMs;
    const std::chrono::nanoseconds start = m_clock();
    for (const Key& key : missing)
        if (!m_waits && (haste == Haste::complete || msSince(start) < kFrameMs))
            makeTile(key, paintPart);
    QRegion stretched;
    eachTile(wanted.boundingRect(), [&](Key key) {
        const auto tile = m_sharp.tiles.find(key);
        if (!wanted.intersects(rectOf(key)))
            return;
        if (tile == m_sharp.tiles.end())
            stretched += wanted & rectOf(key);
        else
            painter.drawImage(rectOf(key).topLeft() - origin, tile->second);
    });
    if (!stretched.isEmpty())
        stretch(painter, stretched, place, background);
    m_blurred = {};
    for (const Key& key : missingOf(place.sight))
        m_blurred += (place.sight & rectOf(key)).translated(-origin);
    m_sharp.isWhole = m_blurred.isEmpty();
    if (m_sharp.isWhole) {
        m_last = {};
        forgetFarAway(place.sight);
    }
    return m_sharp.isWhole;
}

} // namespace workbench::gui
