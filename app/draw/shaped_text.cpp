#include "app/draw/shaped_text.h"

#include "app/draw/theme.h"

#include <QFontMetricsF>
#include <QGlyphRun>
#include <QHash>
#include <QPaintEngine>
#include <QTextLayout>

#include <cmath>
#include <utility>

namespace workbench {
namespace {

constexpr qsizetype kMostTexts = 20000; ///< some 1 KiB each
/// Larger texts are those of far out, which take another size at each zoom: they are shaped at this one.
constexpr int kShapedPixels = 16;

struct Shaped {
    QList<QGlyphRun> glyphs;
    QSizeF size; ///< at the size that it was shaped at
};

struct Key {
    QString text;
    int style; ///< pixels, negative: bold
    bool operator==(const Key&) const = default;
};

std::size_t qHash(const Key& key, std::size_t seed = 0) {
    return qHashMulti(seed, key.text, key.style);
}

/// Glyphs belong to the thread that made them.
const Shaped& shaped(const QString& text, int pixels, bool bold) {
    static thread_local QHash<Key, Shaped> known;
    Key key{text, bold ? -pixels : pixels};
    if (const auto found = known.constFind(key); found != known.constEnd())
        return *found;
    if (known.size() >= kMostTexts)
        known.clear();
    QTextLayout layout(text, drawingFont(pixels, bold));
    layout.setCacheEnabled(true);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    layout.endLayout();
    Shaped made;
    if (line.isValid())
        made = {layout.glyphRuns(), QSizeF(line.naturalTextWidth(), line.height())};
    return *known.insert(std::move(key), std::move(made));
}

} // namespace

void paintLine(QPainter& painter, const QRectF& place, int alignment, const QString& text, double pixels,
               bool bold) {
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        painter.setFont(drawingFont(pixels, bold));
        painter.drawText(place, alignment | Qt::TextSingleLine, text);
        return;
    }
    const int size = std::max(1, static_cast<int>(std::lround(pixels)));
    const Shaped& line = shaped(text, std::min(size, kShapedPixels), bold);
    const double scale = size > kShapedPixels ? pixels / kShapedPixels : 1;
    const QSizeF room = place.size() - line.size * scale;
    const QPointF start(place.left() + (alignment & Qt::AlignHCenter ? room.width() / 2 : 0.0),
                        place.top() + (alignment & Qt::AlignVCenter ? room.height() / 2 : 0.0));
    if (scale == 1) {
        for (const QGlyphRun& run : line.glyphs)
            painter.drawGlyphRun(start, run);
        return;
    }
    const QTransform before = painter.worldTransform();
    painter.translate(start);
    painter.scale(scale, scale);
    for (const QGlyphRun& run : line.glyphs)
        painter.drawGlyphRun({}, run);
    painter.setWorldTransform(before);
}

} // namespace workbench
