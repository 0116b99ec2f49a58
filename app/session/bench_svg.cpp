#include "app/session/bench_svg.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>

namespace workbench {
namespace {

// Units of the pictures' own coordinates; the page scales them.
constexpr double kWidth = 720;
constexpr double kLabels = 90; ///< names on the left
constexpr double kRow = 34;
constexpr double kFigures = 90; ///< numbers on the right
constexpr double kPlot = kWidth - kLabels - kFigures;

std::string number(double value, int digits = 1) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string open(double height, const char* title) {
    return "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(height) + "\" role=\"img\" aria-label=\"" +
           title + "\">\n";
}

std::string text(double x, double y, const char* anchor, const std::string& what) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
           htmlText(what) + "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, const std::string& kind) {
    return "<rect class=\"" + kind + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
           number(std::max(0.0, width)) + "\" height=\"" + number(height) + "\"/>\n";
}

std::string colour(std::size_t index) {
    return "c" + std::to_string(index % 10);
}

} // namespace

std::string htmlText(std::string_view text) {
    std::string escaped;
    for (const char c : text)
        escaped += c == '&'   ? "&amp;"
                   : c == '<' ? "&lt;"
                   : c == '>' ? "&gt;"
                   : c == '"' ? "&quot;"
                              : std::string(1, c);
    return escaped;
}

std::string speedBarsSvg(const std::vector<SpeedBar>& bars) {
    double largest = 0;
    for (const SpeedBar& bar : bars)
        largest = std::max(largest, bar.spread.max);
    std::string svg = open(kRow * static_cast<double>(bars.size()), "Tokens per second of each program");
    for (std::size_t i = 0; i < bars.size() && largest > 0; ++i) {
        const Spread& spread = bars[i].spread;
        const double top = kRow * static_cast<double>(i);
        const double scale = kPlot / largest;
        svg += text(kLabels - 8, top + 22, "end", bars[i].name);
        svg += rectangle(kLabels, top + 6, spread.median * scale, 22, colour(i));
        svg += "<line class=\"spread\" x1=\"" + number(kLabels + spread.min * scale) + "\" x2=\"" +
               number(kLabels + spread.max * scale) + "\" y1=\"" + number(top + 17) + "\" y2=\"" +
               number(top + 17) + "\"/>\n";
        svg += text(kLabels + kPlot + 8, top + 22, "start", number(spread.median));
    }
    return svg + "</svg>\n";
}

std::string roundCurvesSvg(const std::vector<RoundCurve>& curves) {
    constexpr double kHeight = 220;
    constexpr double kBottom = kHeight - 26;
    double largest = 0;
    std::size_t rounds = 1;
    for (const RoundCurve& curve : curves) {
        rounds = std::max(rounds, curve.values.size());
        for (const double value : curve.values)
            largest = std::max(largest, value);
    }
    std::string svg = open(kHeight, "Tokens per second by round");
    svg += "<path class=\"axis\" d=\"M" + number(kLabels) + " 10V" + number(kBottom) + "H" +
           number(kLabels + kPlot) + "\"/>\n";
    svg += text(kLabels - 8, 18, "end", number(largest)) + text(kLabels - 8, kBottom, "end", "0");
    svg += text(kLabels, kHeight - 8, "start", "round 1") +
           text(kLabels + kPlot, kHeight - 8, "end", "round " + std::to_string(rounds));
    const double step = rounds > 1 ? kPlot / static_cast<double>(rounds - 1) : 0;
    for (std::size_t i = 0; i < curves.size() && largest > 0; ++i) {
        std::string points;
        double x = kLabels;
        double y = kBottom;
        for (std::size_t round = 0; round < curves[i].values.size(); ++round) {
            x = kLabels + step * static_cast<double>(round);
            y = kBottom - (kBottom - 14) * curves[i].values[round] / largest;
            points += number(x) + "," + number(y) + " ";
        }
        svg += "<polyline class=\"curve s" + std::to_string(i % 10) + "\" points=\"" + points + "\"/>\n";
        // Names stand apart, also where the curves meet.
        svg += text(kLabels + kPlot + 8, 22 + 18 * static_cast<double>(i), "start", curves[i].name);
        svg += rectangle(kLabels + kPlot + 70, 12 + 18 * static_cast<double>(i), 12, 12, colour(i));
    }
    return svg + "</svg>\n";
}

std::string timePartsSvg(const std::vector<TimeParts>& programs, const std::vector<std::string>& legend) {
    const double height =
        kRow * static_cast<double>(programs.size()) + 22 * static_cast<double>((legend.size() + 3) / 4) + 8;
    double largest = 0;
    for (const TimeParts& program : programs)
        largest =
            std::max(largest, std::accumulate(program.milliseconds.begin(), program.milliseconds.end(), 0.0));
    std::string svg = open(height, "Milliseconds of a step by kind of operator");
    double top = 0;
    for (const TimeParts& program : programs) {
        double x = kLabels;
        svg += text(kLabels - 8, top + 22, "end", program.name);
        for (std::size_t i = 0; i < program.milliseconds.size() && largest > 0; ++i) {
            const double width = kPlot * program.milliseconds[i] / largest;
            svg += rectangle(x, top + 6, width, 22, colour(i));
            x += width;
        }
        svg +=
            text(x + 8, top + 22, "start",
                 number(std::accumulate(program.milliseconds.begin(), program.milliseconds.end(), 0.0), 2) +
                     " ms");
        top += kRow;
    }
    for (std::size_t i = 0; i < legend.size(); ++i) {
        const double x = kLabels + kPlot / 4 * static_cast<double>(i % 4);
        const double y = top + 22 * static_cast<double>(i / 4) + 8;
        svg += rectangle(x, y, 12, 12, colour(i)) + text(x + 18, y + 11, "start", legend[i]);
    }
    return svg + "</svg>\n";
}

} // namespace workbench
