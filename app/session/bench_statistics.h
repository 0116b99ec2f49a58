#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What repeated measurements say, and what they do not.

namespace workbench {

struct Spread {
    double median = 0;
    double min = 0;
    double max = 0;
};

/// NaN throughout for no values.
Spread spreadOf(std::vector<double> values);

/// Smallest value that at least `share` (0 to 1) of the values do not exceed (nearest rank); NaN for no
/// values.
double percentile(std::vector<double> values, double share);

struct Interval {
    double low = 0;
    double high = 0;
};

/// Where the true median lies with 95 % confidence, whatever the distribution: between two order statistics
/// (David and Nagaraja, Order Statistics, section 7.1). Five values or fewer cannot give 95 %: their whole
/// range is taken, and no verdict rests on them.
Interval medianInterval(std::vector<double> values);

enum class SpeedVerdict { faster, slower, withinSpread, tooFewRounds };

/// How many times as fast one program is as another. Both ran in turn: each round is compared with its
/// partner, so that a machine that slows down for both changes nothing.
struct Comparison {
    double ratio = 0; ///< median over the rounds; NaN for none
    Interval interval;
    SpeedVerdict verdict = SpeedVerdict::tooFewRounds;
};

inline constexpr std::size_t kFewestRounds = 6; ///< for a verdict

/// Speeds by round; rounds without a partner are left out.
Comparison compareSpeeds(const std::vector<double>& before, const std::vector<double>& after);

/// "faster", "slower", "within the spread", "too few rounds".
std::string_view nameOf(SpeedVerdict verdict);
/// "1.31 times (1.28 to 1.35): faster".
std::string describe(const Comparison& comparison);

} // namespace workbench
