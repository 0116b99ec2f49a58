#pragma once

#include "app/session/job.h"
#include "app/session/traced_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

inline constexpr std::size_t kHistogramBins = 64;

/// What the numbers of a weight are like. Minimum to deviation are over the finite ones; all 0 when there are
/// none.
struct WeightStatistics {
    ScalarType stored = ScalarType::f32; ///< type in the checkpoint, which may not be the traced one
    std::int64_t count = 0;
    std::int64_t zeros = 0;
    std::int64_t notFinite = 0; ///< infinities and NaN
    double minimum = 0, maximum = 0, mean = 0;
    double deviation = 0;                ///< standard deviation, over count
    std::vector<std::int64_t> histogram; ///< kHistogramBins equal steps from minimum to maximum, both inside
};

/// Gathers them piece by piece: all pieces once with see(), then all again with seeAgain().
class WeightSummary {
public:
    void see(const std::vector<double>& values);
    void seeAgain(const std::vector<double>& values);
    WeightStatistics finish() &&;

private:
    std::int64_t finite() const { return m_statistics.count - m_statistics.notFinite; }
    WeightStatistics m_statistics;
    double m_sum = 0, m_squares = 0;
    bool m_again = false;
};

/// Of a parameter, buffer or constant by its name. Reads the data twice in small pieces, so that memory does
/// not grow with the weight. An error says that the model has no weights, or what cannot be read.
Result<WeightStatistics> weightStatistics(const TracedModel& model, const std::string& name, const Job& job);

} // namespace workbench
