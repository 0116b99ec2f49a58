#include "runtime/benchmark/agreement.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

namespace workbench::benchmark {
namespace {

constexpr std::int64_t kPrompt = 24;
constexpr std::int64_t kTokens = 16;

/// Tokens of one sequence from `position` on, whose blocks are the cache's first ones.
StepPlan planOf(std::vector<std::int64_t> tokens, std::int64_t position,
                const std::vector<std::vector<BlockId>>& tables) {
    StepPlan plan;
    const auto count = static_cast<std::int64_t>(tokens.size());
    for (std::int64_t i = 0; i < count; ++i)
        plan.positions.push_back(position + i);
    plan.tokens = std::move(tokens);
    plan.rows = {count - 1};
    plan.sequences = {{.id = 1, .tokens = count, .firstPosition = position, .row = 0, .tables = tables}};
    return plan;
}

std::int64_t largest(std::span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

void note(std::span<const float> reference, std::span<const float> other, Agreement& agreement) {
    double error = 0;
    double scale = 0;
    bool finite = true;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double difference = std::abs(double{reference[i]} - double{other[i]});
        finite = finite && std::isfinite(difference);
        error = std::max(error, difference);
        scale = std::max(scale, std::abs(double{reference[i]}));
    }
    const double relative = scale > 0 ? error / scale : error;
    agreement.relativeError = finite ? std::max(agreement.relativeError, relative) : HUGE_VAL;
    ++agreement.tokens;
    agreement.equal += largest(reference) == largest(other);
}

} // namespace

Result<Agreement> compareModels(ModelRunner& reference, ModelRunner& other, const BlockLayout& layout) {
    const std::atomic<bool> abort = false;
    if (reference.vocabulary() != other.vocabulary())
        return Error{ErrorCode::runtimeFailed, "The models have different vocabularies.", {}};
    const std::int64_t blocks = (kPrompt + kTokens + layout.blockTokens - 1) / layout.blockTokens;
    std::vector<std::vector<BlockId>> tables(layout.windows.size());
    BlockId next = 0;
    for (auto& table : tables)
        for (std::int64_t i = 0; i < blocks; ++i)
            table.push_back(next++);
    if (next > layout.blocks)
        return Error{ErrorCode::runtimeFailed, "The KV cache is too small for a comparison.", {}};
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < kPrompt; ++i)
        tokens.push_back((i * 7919 + 3) % reference.vocabulary());
    Agreement agreement;
    std::int64_t position = 0;
    for (std::int64_t i = 0; i < kTokens; ++i) {
        const StepPlan plan = planOf(tokens, position, tables);
        auto expected = reference.run(plan, abort);
        auto found = expected ? other.run(plan, abort) : expected;
        if (!found)
            return found.error();
        note(*expected, *found, agreement);
        position += static_cast<std::int64_t>(tokens.size());
        tokens = {largest(*expected)};
    }
    return agreement;
}

} // namespace workbench::benchmark
