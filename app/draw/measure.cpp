#include "app/draw/measure.h"

#include "app/draw/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

constexpr double kWidest = 280, kNarrowest = 56, kNarrowestModule = 110;
constexpr qsizetype kMostDetails = 3;

/// Metrics are asked for thousands of times per diagram.
const QFontMetricsF& titleMetrics() {
    static thread_local const QFontMetricsF metrics(drawingFont(kTitlePixels, true));
    return metrics;
}
const QFontMetricsF& textMetrics() {
    static thread_local const QFontMetricsF metrics(drawingFont(kTextPixels));
    return metrics;
}

QString cut(const QFontMetricsF& metrics, const std::string& text) {
    const QString whole = QString::fromStdString(text);
    const double width = kWidest - 2 * kSidePadding;
    return metrics.horizontalAdvance(whole) <= width ? whole
                                                     : metrics.elidedText(whole, Qt::ElideMiddle, width);
}

} // namespace

QString countBadge(const Box& box) {
    return box.count > 1 ? QStringLiteral("×%1").arg(box.count) : QString();
}

double badgeWidth(const Box& box) {
    return box.count > 1 ? textMetrics().horizontalAdvance(countBadge(box)) + 14 : 0;
}

BoxText textOf(const Box& box) {
    BoxText text;
    text.title = cut(titleMetrics(), box.title);
    text.subtitle = cut(textMetrics(), box.subtitle);
    for (const std::string& detail : box.details)
        if (text.details.size() < kMostDetails)
            text.details.push_back(cut(textMetrics(), detail));
    const bool isPill = box.beside >= 0;
    text.titleWidth =
        isPill ? textMetrics().horizontalAdvance(text.title) : titleMetrics().horizontalAdvance(text.title);
    if (isPill)
        text.details.clear(); // it stays small: the details are for whoever points at it
    return text;
}

QSizeF sizeOf(const Box& box, const BoxText& text) {
    double width = text.titleWidth;
    if (box.count > 1)
        width += badgeWidth(box) + 10;
    width = std::max(width, textMetrics().horizontalAdvance(text.subtitle));
    for (const QString& detail : text.details)
        width = std::max(width, textMetrics().horizontalAdvance(detail));
    const double lines = static_cast<double>(text.details.size()) + (text.subtitle.isEmpty() ? 0 : 1);
    const bool isPill = box.beside >= 0;
    double height = (isPill ? kTextLine : kTitleLine) + lines * kTextLine + 2 * kTopPadding;
    if (isPill)
        height -= 4;
    if (box.kind == Box::Kind::module)
        height += kBarHeight + 2; // room for the patterns' bar
    const double least = box.kind == Box::Kind::module ? kNarrowestModule : kNarrowest;
    return {std::ceil(std::max(least, width + 2 * kSidePadding)), std::ceil(height)};
}

QSizeF boxSize(const Box& box) {
    return sizeOf(box, textOf(box));
}

QSizeF labelSize(const std::string& label) {
    if (label.empty())
        return {};
    static thread_local const QFontMetricsF metrics(drawingFont(kLabelPixels));
    return {std::ceil(metrics.horizontalAdvance(QString::fromStdString(label))) + 10, kTextLine};
}

} // namespace workbench
