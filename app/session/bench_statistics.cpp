#include "app/session/bench_statistics.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

namespace workbench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kConfidence = 0.95;

/// The largest k for which the k-th smallest and the k-th largest of n values enclose the median with the
/// wanted confidence; 1 when not even the whole range does. Each value lies below the median with
/// probability 1/2, so that k is a quantile of the binomial distribution.
std::size_t enclosingRank(std::size_t n) {
    // For many values the binomial distribution is a normal one, whose two-sided 95 % lie within 1.96
    // deviations of sqrt(n) / 2; its terms would be too small for a double.
    if (n > 500)
        return static_cast<std::size_t>((static_cast<double>(n) - 1.96 * std::sqrt(static_cast<double>(n))) /
                                        2);
    double term = std::pow(0.5, static_cast<double>(n)); // P(exactly j of n below)
    double outside = term;
    std::size_t rank = 1;
    for (std::size_t j = 1; j < n / 2; ++j) {
        term *= static_cast<double>(n - j + 1) / static_cast<double>(j);
        outside += term;
        if (1 - 2 * outside < kConfidence)
            break;
        rank = j + 1;
    }
    return rank;
}

SpeedVerdict verdictOf(const Interval& interval, std::size_t rounds) {
    if (rounds < kFewestRounds)
        return SpeedVerdict::tooFewRounds;
    if (interval.low > 1)
        return SpeedVerdict::faster;
    return interval.high < 1 ? SpeedVerdict::slower : SpeedVerdict::withinSpread;
}

std::string twoDigits(double value) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << value;
    return text.str();
}

} // namespace

Spread spreadOf(std::vector<double> values) {
    if (values.empty())
        return {kNone, kNone, kNone};
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

double percentile(std::vector<double> values, double share) {
    if (values.empty())
        return kNone;
    const double wanted = std::ceil(share * static_cast<double>(values.size()));
    const auto rank = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(values.size())));
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

Interval medianInterval(std::vector<double> values) {
    if (values.empty())
        return {kNone, kNone};
    std::sort(values.begin(), values.end());
    const std::size_t rank = enclosingRank(values.size());
    return {values[rank - 1], values[values.size() - rank]};
}

Comparison compareSpeeds(const std::vector<double>& before, const std::vector<double>& after) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
        if (before[i] > 0 && after[i] > 0)
            ratios.push_back(after[i] / before[i]);
    Comparison comparison;
    comparison.ratio = spreadOf(ratios).median;
    comparison.interval = medianInterval(ratios);
    comparison.verdict = verdictOf(comparison.interval, ratios.size());
    return comparison;
}

std::string_view nameOf(SpeedVerdict verdict) {
    switch (verdict) {
    case SpeedVerdict::faster:
        return "faster";
    case SpeedVerdict::slower:
        return "slower";
    case SpeedVerdict::withinSpread:
        return "within the spread";
    case SpeedVerdict::tooFewRounds:
        return "too few rounds";
    }
    return "";
}

std::string describe(const Comparison& comparison) {
    if (std::isnan(comparison.ratio))
        return std::string(nameOf(comparison.verdict));
    return twoDigits(comparison.ratio) + " times (" + twoDigits(comparison.interval.low) + " to " +
           twoDigits(comparison.interval.high) + "): " + std::string(nameOf(comparison.verdict));
}

} // namespace workbench
