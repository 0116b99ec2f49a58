#include "app/session/quality_loss.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace workbench {
namespace {

using Row = std::span<const float>;

Row rowOf(const Logits& logits, std::int64_t row) {
    return {logits.data() + row * logits.vocabulary, static_cast<std::size_t>(logits.vocabulary)};
}

/// The least finite bfloat16, which is above the least float32.
constexpr float kMask = -0x1.fep127f;

bool isMasked(float logit) {
    return logit <= kMask; // false for NaN
}

std::size_t greedyToken(Row row) {
    return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// ln of the sum of exp(logit), from the largest on: exp() of a large logit is infinite.
double logSum(Row row) {
    const double largest = row[greedyToken(row)];
    double sum = 0;
    for (const float logit : row)
        sum += std::exp(logit - largest);
    return largest + std::log(sum);
}

double divergence(Row stored, Row quantised, double storedSum, double quantisedSum) {
    double sum = 0;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        if (isMasked(stored[i]) && isMasked(quantised[i]))
            continue;
        const double logStored = stored[i] - storedSum;
        sum += std::exp(logStored) * (logStored - (quantised[i] - quantisedSum));
    }
    return sum;
}

/// Sums over the rows.
struct Sums {
    double error = 0;
    double size = 0;
    double divergence = 0;
    std::int64_t equal = 0;
    bool apart = false; ///< a logit is masked on one side alone
    QualityLoss::Likelihood text;

    void add(Row stored, Row quantised, std::optional<std::int64_t> next) {
        for (std::size_t i = 0; i < stored.size(); ++i) {
            if (isMasked(stored[i]) && isMasked(quantised[i]))
                continue;
            apart = apart || isMasked(stored[i]) || isMasked(quantised[i]);
            const double difference = static_cast<double>(quantised[i]) - static_cast<double>(stored[i]);
            error += difference * difference;
            size += static_cast<double>(stored[i]) * static_cast<double>(stored[i]);
        }
        const double storedSum = logSum(stored), quantisedSum = logSum(quantised);
        divergence += workbench::divergence(stored, quantised, storedSum, quantisedSum);
        equal += greedyToken(stored) == greedyToken(quantised);
        if (!next)
            return;
        const auto token = static_cast<std::size_t>(*next);
        if (isMasked(stored[token]))
            return; // not a token that the model gives a likelihood
        ++text.tokens;
        text.stored += storedSum - stored[token];
        text.quantised += quantisedSum - quantised[token];
    }
};

} // namespace

Result<QualityLoss> qualityLoss(const Logits& stored, const Logits& quantised,
                                const std::vector<std::optional<std::int64_t>>& next) {
    if (stored.rows != quantised.rows || stored.vocabulary != quantised.vocabulary || stored.rows == 0)
        return Error{ErrorCode::runtimeFailed, "the programs give logits of different sizes, or none", {}};
    Sums sums;
    for (std::int64_t row = 0; row < stored.rows; ++row) {
        const auto after =
            static_cast<std::size_t>(row) < next.size() ? next[static_cast<std::size_t>(row)] : std::nullopt;
        sums.add(rowOf(stored, row), rowOf(quantised, row),
                 after && *after < stored.vocabulary ? after : std::nullopt);
    }
    if (sums.apart)
        return Error{ErrorCode::requirementFailed,
                     "there are logits that are masked with one kind of weights and not with the other",
                     {}};
    if (!std::isfinite(sums.error) || !std::isfinite(sums.size) || !std::isfinite(sums.divergence))
        return Error{ErrorCode::requirementFailed, "there are logits that are infinite or not a number", {}};
    const auto rows = static_cast<double>(stored.rows);
    QualityLoss loss{stored.rows,
                     sums.size > 0 ? std::sqrt(sums.error / sums.size) : 0,
                     sums.divergence / rows,
                     sums.equal,
                     {}};
    if (sums.text.tokens > 0) {
        const auto tokens = static_cast<double>(sums.text.tokens);
        loss.text = {sums.text.tokens, sums.text.stored / tokens, sums.text.quantised / tokens};
    }
    return loss;
}

} // namespace workbench
