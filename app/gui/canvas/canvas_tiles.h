#pragma once

#include <QtCore/QRectF>
#include <QtGui/QImage>
#include <QtGui/QPainter>
#include <QtGui/QRegion>

#include <chrono>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace workbench::gui {

/// What was painted of a drawing, in squares of the zoomed drawing, so that a pan paints only what comes into
/// sight. After a change of the zoom the squares of the last size are shown, stretched, until there was time
/// for sharp ones: a frame takes about as long whatever the drawing holds. GUI thread only.
class CanvasTiles {
public:
    /// Paints a part of the drawing, background included; the painter is in scene coordinates.
    using PaintPart = std::function<void(QPainter&, const QRectF& scenePart)>;
    /// Where the viewport is.
    struct Place {
        double zoom = 1;
        QRect sight; ///< the viewport in the zoomed drawing, device-independent pixels
        double pixelRatio = 1;
    };
    enum class Haste { complete, brief }; ///< brief: for frames of a movement

    /// Time since any fixed moment.
    using Clock = std::function<std::chrono::nanoseconds()>;
    static std::chrono::nanoseconds steadyTime() {
        return std::chrono::steady_clock::now().time_since_epoch();
    }

    explicit CanvasTiles(Clock clock = steadyTime) : m_clock(std::move(clock)) {}

    void clear(); ///< the whole drawing is another one
    /// It looks a little different: what was painted is shown until there was time for it anew.
    void outdate();

    /// Paints a region of the viewport. False: a part of it is not sharp yet, ask again in a moment.
    bool paint(QPainter& painter, const QRegion& region, const Place& place, Haste haste,
               const QColor& background, const PaintPart& paintPart);
    /// What was not sharp after the last paint(), in the viewport.
    const QRegion& blurred() const { return m_blurred; }
    /// The last paint() left sharp tiles for when the zoom rests.
    bool waits() const { return m_waits; }

private:
    using Key = std::pair<int, int>; ///< column and row
    struct Level {
        double zoom = 0;
        double pixelRatio = 1;
        std::map<Key, QImage> tiles;
        bool isWhole = false; ///< nothing was missing when it was last painted
    };

    void startLevel(double zoom, double pixelRatio);
    void forgetFarAway(const QRect& inSight);
    std::vector<Key> missingOf(const QRegion& region) const;
    void makeTile(Key key, const PaintPart& paintPart);
    void stretch(QPainter& painter, const QRegion& region, const Place& place, const QColor& background);

    double msSince(std::chrono::nanoseconds start) const;

    Clock m_clock;
    Level m_sharp;
    Level m_last;
    double m_tileMs = 0; ///< what a tile takes, about
    QRegion m_blurred;
    bool m_waits = false;
};

} // namespace workbench::gui
