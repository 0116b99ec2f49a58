#pragma once

#include <QtGui/QColor>
#include <QtGui/QPalette>

#include <vector>

/// Colours and scales that the charts of the panel share.

namespace workbench::gui {

struct ChartColours {
    QColor before;
    QColor after;
    QColor native; ///< hand-written code
    QColor eager;  ///< transformers
    QColor faster;
    QColor slower;
    QColor unclear; ///< within the spread
    QColor grid;
    QColor text;
    QColor mutedText;
};
ChartColours chartColours(const QPalette& palette);

/// An axis from 0 whose marks are 1, 2 or 5 times a power of ten apart.
struct AxisScale {
    double step = 1;
    double end = 1; ///< a multiple of the step, at least the largest value
    std::vector<double> marks() const;
};
/// `largest` may be anything; what is not positive and finite counts as 1.
AxisScale scaleFor(double largest, int mostMarks);

} // namespace workbench::gui
