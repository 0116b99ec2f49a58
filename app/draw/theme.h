#pragma once

#include <QColor>
#include <QFont>

#include <array>
#include <cstdint>

namespace workbench {

/// All colours of the drawing. Text on every fill has a contrast of at least 4.5.
struct Theme {
    bool dark = false;
    QColor background, grid;
    QColor text, mutedText;
    QColor moduleFill, moduleBorder;       ///< collapsed
    QColor containerFill, containerBorder; ///< expanded; deeper ones alternate with background
    QColor nodeFill, nodeBorder;
    QColor inputFill, outputFill, parameterFill, copyFill, valueBorder;
    QColor edge, edgeText;
    QColor selection, producer, consumer, searchHit;
    QColor added, removed, merged;   ///< before and after
    std::array<QColor, 12> patterns; ///< by colour slot of the pattern; further ones start over
    QColor overlayLow, overlayHigh;

    QColor slot(std::int32_t index) const;
    /// Text colour for a fill: dark or light, whichever reads better.
    QColor textOn(const QColor& fill) const;
    QColor overlay(double share) const; ///< 0 to 1

    static const Theme& light();
    static const Theme& darkOne();
};

/// Relative luminance and contrast as WCAG 2.1 defines them.
double luminance(const QColor& colour);
double contrast(const QColor& a, const QColor& b);
/// `share` 0: `from`, 1: `to`.
QColor mixed(const QColor& from, const QColor& to, double share);

/// The font of the drawing at a size in device-independent pixels.
QFont drawingFont(double pixels, bool bold = false);

} // namespace workbench
