#include "app/draw/export.h"

#include "app/draw/measure.h"
#include "core/support/atomic_file.h"

#include <QBuffer>
#include <QFontMetricsF>
#include <QImage>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

constexpr double kMargin = 28, kTitleHeight = 34, kLegendGap = 18;
constexpr double kTitleSize = 17;
constexpr double kMostPixels = 16'384; ///< along one side
constexpr double kLeastWidth = 420;

/// A picture's parts, in units from its upper left corner.
struct Page {
    QSizeF size;
    QRectF title, drawing, legend;
};

QRectF partOf(const Scene& scene, const ExportOptions& options) {
    // Cards behind folded boxes and numbers on borders reach out of the bounds.
    return options.part.isNull() ? scene.bounds.adjusted(-4, -18, 12, 12) : options.part;
}

Page pageOf(const Scene& scene, const ExportOptions& options) {
    const QRectF part = partOf(scene, options);
    Page page;
    const double titleWidth =
        QFontMetricsF(drawingFont(kTitleSize, true)).horizontalAdvance(options.title) + 4;
    const double width = std::max({part.width(), options.title.isEmpty() ? 0.0 : titleWidth, kLeastWidth});
    double y = kMargin;
    if (!options.title.isEmpty()) {
        page.title = QRectF(kMargin, y, width, kTitleHeight);
        y += kTitleHeight + 6;
    }
    page.drawing = QRectF(kMargin + (width - part.width()) / 2, y, part.width(), part.height());
    y += part.height();
    if (const QSizeF legend = legendSize(options.legend, width); legend.height() > 0) {
        page.legend = QRectF(kMargin, y + kLegendGap, width, legend.height());
        y += kLegendGap + legend.height();
    }
    page.size = QSizeF(std::ceil(width + 2 * kMargin), std::ceil(y + kMargin));
    return page;
}

void paintPage(QPainter& painter, const Page& page, const Scene& scene, const PaintOptions& asked,
               const ExportOptions& options) {
    const Theme& theme = asked.theme ? *asked.theme : Theme::light();
    painter.fillRect(QRectF(QPointF(0, 0), page.size), theme.background);
    if (!options.title.isEmpty()) {
        painter.setFont(drawingFont(kTitleSize, true));
        painter.setPen(theme.text);
        painter.drawText(page.title, Qt::AlignLeft | Qt::AlignVCenter, options.title);
    }
    PaintOptions paint = asked;
    paint.visible = partOf(scene, options);
    paint.background = false;
    painter.save();
    if (!options.part.isNull())
        painter.setClipRect(page.drawing);
    painter.translate(page.drawing.topLeft() - paint.visible.topLeft());
    paintDiagram(painter, scene, paint);
    painter.restore();
    if (!page.legend.isEmpty())
        paintLegend(painter, page.legend, options.legend, theme);
}

Error tooLarge(const QSize& size) {
    return {ErrorCode::badInput,
            "a picture of " + std::to_string(size.width()) + " x " + std::to_string(size.height()) +
                " pixels does not fit into memory: export SVG, or a smaller part",
            {}};
}

} // namespace

Result<QByteArray> exportSvg(const Scene& scene, const PaintOptions& paint, const ExportOptions& options) {
    const Page page = pageOf(scene, options);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(96);
    generator.setSize(page.size.toSize());
    generator.setViewBox(QRectF(QPointF(0, 0), page.size));
    generator.setTitle(options.title);
    QPainter painter(&generator);
    paintPage(painter, page, scene, paint, options);
    painter.end();
    return bytes;
}

Result<QByteArray> exportPng(const Scene& scene, const PaintOptions& paint, const ExportOptions& options) {
    const Page page = pageOf(scene, options);
    const double longest = std::max(page.size.width(), page.size.height());
    const double ratio = std::min(options.pixelRatio, kMostPixels / longest);
    const QSize pixels = (page.size * ratio).toSize();
    QImage image(pixels, QImage::Format_RGB32);
    if (image.isNull())
        return tooLarge(pixels);
    image.fill((paint.theme ? *paint.theme : Theme::light()).background); // rounding leaves a part of a pixel
    QPainter painter(&image);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    painter.scale(ratio, ratio);
    PaintOptions scaled = paint;
    scaled.scale = std::max(paint.scale, 1.0) * std::min(1.0, ratio);
    paintPage(painter, page, scene, scaled, options);
    painter.end();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!image.save(&buffer, "PNG"))
        return tooLarge(pixels);
    return bytes;
}

Status exportPicture(const std::filesystem::path& file, const Scene& scene, const PaintOptions& paint,
                     const ExportOptions& options) {
    const std::string suffix = file.extension().string();
    if (suffix != ".svg" && suffix != ".png")
        return Error{ErrorCode::usage, file.string() + " ends in neither .svg nor .png", file.string()};
    const auto bytes = suffix == ".svg" ? exportSvg(scene, paint, options) : exportPng(scene, paint, options);
    if (!bytes)
        return bytes.error();
    return writeFileAtomically(file, {bytes->constData(), static_cast<std::size_t>(bytes->size())});
}

} // namespace workbench
