#include "app/gui/measure/chart_style.h"

#include <algorithm>
#include <cmath>

namespace workbench::gui {

ChartColours chartColours(const QPalette& palette) {
    const QColor text = palette.color(QPalette::Text);
    const bool dark = palette.color(QPalette::Base).lightness() < 128;
    QColor grid = text;
    grid.setAlpha(32);
    QColor muted = text;
    muted.setAlpha(170);
    if (dark)
        return {QColor("#a9b1bd"),
                QColor("#6ea8fe"),
                QColor("#e0b04a"),
                QColor("#c792ea"),
                QColor("#5cc98a"),
                QColor("#ff8a7a"),
                QColor("#8a8f98"),
                grid,
                text,
                muted};
    return {QColor("#6b7280"),
            QColor("#1f5fd0"),
            QColor("#9a5b00"),
            QColor("#7b3fa0"),
            QColor("#1f7a48"),
            QColor("#b3261e"),
            QColor("#8a8f98"),
            grid,
            text,
            muted};
}

std::vector<double> AxisScale::marks() const {
    std::vector<double> all;
    const int count = static_cast<int>(std::lround(end / step));
    for (int i = 0; i <= count; ++i)
        all.push_back(i * step);
    return all;
}

AxisScale scaleFor(double largest, int mostMarks) {
    if (!(largest > 0) || !std::isfinite(largest))
        largest = 1;
    const double wanted = largest / std::max(1, mostMarks);
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    double step = 10 * power;
    for (const double times : {5.0, 2.0, 1.0})
        if (times * power >= wanted)
            step = times * power;
    // The tolerance keeps 0.3 / 0.1 = 2.9999999999999996 from becoming a mark more or less.
    return {step, step * std::ceil(largest / step - 1e-9)};
}

} // namespace workbench::gui
