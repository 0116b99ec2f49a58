#include "runtime/program/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench {
namespace {

/// Elements that are widened to float64 at a time: the comparison of large logits must not need several times
/// their memory.
constexpr std::int64_t kChunk = 1 << 20;

Error failed(std::string message) {
    return Error{ErrorCode::requirementFailed, std::move(message), {}};
}

struct Extremes {
    double error = 0;
    double reference = 0;
    bool finite = true;
};

void update(Extremes& extremes, const double* reference, const double* other, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        extremes.finite = extremes.finite && std::isfinite(reference[i]) && std::isfinite(other[i]);
        extremes.error = std::max(extremes.error, std::abs(reference[i] - other[i]));
        extremes.reference = std::max(extremes.reference, std::abs(reference[i]));
    }
}

Extremes extremesOf(const at::Tensor& reference, const at::Tensor& other) {
    const at::Tensor a = reference.reshape({-1});
    const at::Tensor b = other.reshape({-1});
    Extremes extremes;
    for (std::int64_t begin = 0; begin < a.numel(); begin += kChunk) {
        const std::int64_t count = std::min(kChunk, a.numel() - begin);
        const at::Tensor wideA = a.narrow(0, begin, count).cpu().to(at::kDouble).contiguous();
        const at::Tensor wideB = b.narrow(0, begin, count).cpu().to(at::kDouble).contiguous();
        update(extremes, wideA.const_data_ptr<double>(), wideB.const_data_ptr<double>(), count);
    }
    return extremes;
}

std::string describe(const at::Tensor& tensor) {
    std::string text = std::string(c10::toString(tensor.scalar_type())) + "[";
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim)
        text += (dim ? ", " : "") + std::to_string(tensor.size(dim));
    return text + "]";
}

} // namespace

Result<Difference> compare(const at::Tensor& reference, const at::Tensor& other, const std::string& what) {
    if (reference.sizes() != other.sizes() || reference.scalar_type() != other.scalar_type())
        return failed(what + " cannot be compared: " + describe(reference) + " became " + describe(other) +
                      ".");
    if (reference.numel() == 0)
        return failed(what + " cannot be compared: there is no element.");
    const Extremes extremes = extremesOf(reference, other);
    if (!extremes.finite)
        return failed(what + " cannot be compared: it has values that are infinite or not a number; try "
                             "--dtype f32, or look for such values among the weights.");
    Difference difference{extremes.error, extremes.reference, 0};
    if (extremes.error > 0)
        difference.relativeError =
            extremes.reference > 0 ? extremes.error / extremes.reference : std::numeric_limits<double>::max();
    return difference;
}

Result<std::vector<Choice>> greedyChoices(const at::Tensor& logits) {
    const std::int64_t vocabulary = logits.size(1);
    const auto* data = logits.const_data_ptr<float>();
    std::vector<Choice> choices;
    for (std::int64_t row = 0; row < logits.size(0); ++row, data += vocabulary) {
        std::int64_t best = 0;
        float second = -std::numeric_limits<float>::infinity();
        float sum = data[0]; // infinite or NaN as soon as one logit is; the sum of finite ones may overflow,
                             // hence the scale
        for (std::int64_t token = 1; token < vocabulary; ++token) {
            sum += data[token] * 1e-6f;
            if (data[token] > data[best]) {
                second = data[best];
                best = token;
            } else {
                second = std::max(second, data[token]);
            }
        }
        if (!std::isfinite(sum))
            return failed("The logits of row " + std::to_string(row) +
                          " have values that are infinite or not a number.");
        choices.push_back(
            {best, vocabulary > 1 ? static_cast<double>(data[best]) - static_cast<double>(second) : 0.0});
    }
    return choices;
}

} // namespace workbench
