#include "app/session/weight_statistics.h"

#include "app/session/element_values.h"
#include "app/session/parameter_data.h"

#include <algorithm>
#include <cmath>

namespace workbench {

void WeightSummary::see(const std::vector<double>& values) {
    WeightStatistics& s = m_statistics;
    for (const double value : values) {
        const bool first = finite() == 0;
        ++s.count;
        if (!std::isfinite(value)) {
            ++s.notFinite;
            continue;
        }
        s.zeros += value == 0;
        s.minimum = first ? value : std::min(s.minimum, value);
        s.maximum = first ? value : std::max(s.maximum, value);
        m_sum += value;
    }
}

void WeightSummary::seeAgain(const std::vector<double>& values) {
    WeightStatistics& s = m_statistics;
    if (!std::exchange(m_again, true)) {
        s.mean = finite() > 0 ? m_sum / static_cast<double>(finite()) : 0;
        s.histogram.assign(kHistogramBins, 0);
    }
    const double width = (s.maximum - s.minimum) / static_cast<double>(kHistogramBins);
    for (const double value : values) {
        if (!std::isfinite(value))
            continue;
        m_squares += (value - s.mean) * (value - s.mean);
        const double bin = width > 0 ? (value - s.minimum) / width : 0;
        ++s.histogram[std::min(static_cast<std::size_t>(bin), kHistogramBins - 1)];
    }
}

WeightStatistics WeightSummary::finish() && {
    if (finite() > 0)
        m_statistics.deviation = std::sqrt(m_squares / static_cast<double>(finite()));
    return std::move(m_statistics);
}

Result<WeightStatistics> weightStatistics(const TracedModel& model, const std::string& name, const Job& job) {
    if (!model.hasWeights)
        return Error{ErrorCode::badInput,
                     "there are no weights beside this model's configuration: open a directory that has them",
                     name};
    auto data = ParameterData::open(model);
    if (!data)
        return data.error();
    WeightSummary summary;
    ScalarType stored = ScalarType::f32;
    bool known = true;
    std::vector<double> values;
    for (void (WeightSummary::*see)(const std::vector<double>&) :
         {&WeightSummary::see, &WeightSummary::seeAgain}) {
        const auto piece = [&](ScalarType type, std::span<const std::byte> bytes) {
            stored = type;
            values.clear();
            known = known && appendValues(type, bytes, values);
            (summary.*see)(values);
        };
        if (auto read = data->eachPiece(name, job, piece); !read)
            return read.error();
        if (!known)
            return Error{ErrorCode::badInput,
                         "the parameter " + name + " is stored in a type that cannot be read", name};
    }
    WeightStatistics statistics = std::move(summary).finish();
    statistics.stored = stored;
    return statistics;
}

} // namespace workbench
