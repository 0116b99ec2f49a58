#pragma once

#include "app/draw/paint.h"
#include "core/support/result.h"

#include <QByteArray>
#include <QString>

#include <filesystem>

namespace workbench {

struct ExportOptions {
    QString title;         ///< above the drawing; empty: none
    Legend legend;         ///< below it; nothing in it: none
    double pixelRatio = 2; ///< PNG: pixels per unit; made smaller where the picture would pass 16,384 pixels
    QRectF part;           ///< in scene coordinates; null: all
};

/// A picture of the scene with margin, title and legend. Errors: too large, no memory.
Result<QByteArray> exportSvg(const Scene& scene, const PaintOptions& paint, const ExportOptions& options);
Result<QByteArray> exportPng(const Scene& scene, const PaintOptions& paint, const ExportOptions& options);
/// By the file's suffix, .svg or .png; appears whole or not at all.
Status exportPicture(const std::filesystem::path& file, const Scene& scene, const PaintOptions& paint,
                     const ExportOptions& options);

} // namespace workbench
