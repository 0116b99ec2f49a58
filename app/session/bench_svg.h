#pragma once

#include "app/session/bench_statistics.h"

#include <string>
#include <vector>

/// Pictures of a measurement as SVG elements for an HTML page, which brings the colours as classes c0, c1,
/// ....

namespace workbench {

/// A program's speed: a bar up to the median, a line from min to max.
struct SpeedBar {
    std::string name;
    Spread spread;
};
std::string speedBarsSvg(const std::vector<SpeedBar>& bars);

/// A program's speed by round.
struct RoundCurve {
    std::string name;
    std::vector<double> values;
};
std::string roundCurvesSvg(const std::vector<RoundCurve>& curves);

/// Parts of a program's time, in the order of the legend; all programs have the same parts.
struct TimeParts {
    std::string name;
    std::vector<double> milliseconds;
};
std::string timePartsSvg(const std::vector<TimeParts>& programs, const std::vector<std::string>& legend);

/// Text as it may stand in HTML and SVG.
std::string htmlText(std::string_view text);

} // namespace workbench
