#pragma once

#include <QPainter>
#include <QString>

namespace workbench {

/// Paints a line of text in a font of the drawing, placed as QPainter::drawText does. Onto pixels the glyphs
/// of the last time are used again: finding them takes longer than painting them, and they are the same in
/// every frame.
void paintLine(QPainter& painter, const QRectF& place, int alignment, const QString& text, double pixels,
               bool bold = false);

} // namespace workbench
