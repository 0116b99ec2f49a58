#include "runtime/ops/attention_plan.h"

#include <algorithm>

namespace workbench::ops {
namespace {

// A part of a split key range has at least this many keys: below, joining the parts costs more than the
// second thread brings.
constexpr int64_t kMinSplitKeys = 128;

int64_t floorDivide(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return quotient * b > a ? quotient - 1 : quotient;
}

int64_t queriesPerTask(const AttentionCall& call, const AttentionSpan& span) {
    return usesTiles(call, span) ? std::max<int64_t>(1, kTaskRows / call.groups()) : 1;
}

/// The keys that any query of [begin, end) sees. Ranges move forward with the query, so the ends are those of
/// the first and the last.
KeyRange keysOfBlock(const AttentionCall& call, const AttentionSpan& span, int64_t begin, int64_t end) {
    return {visibleKeys(call, span, begin).begin, visibleKeys(call, span, end - 1).end};
}

int64_t splitCount(int64_t tasks, int64_t keys, int threads) {
    const int64_t wanted = threads == 1 ? 1 : (4 * threads + tasks - 1) / tasks;
    return std::clamp<int64_t>(keys / kMinSplitKeys, 1, std::max<int64_t>(1, wanted));
}

void addBlock(const AttentionCall& call, int64_t spanIndex, int64_t begin, int64_t step, int64_t wholeTasks,
              int threads, AttentionPlan& plan) {
    const AttentionSpan& span = call.spans[static_cast<size_t>(spanIndex)];
    const int64_t end = std::min(begin + step, span.queries);
    const KeyRange keys = keysOfBlock(call, span, begin, end);
    const int64_t length = keys.end - keys.begin;
    const int64_t splits = span.queries == 1 ? splitCount(wholeTasks, length, threads) : 1;
    for (int64_t head = 0; head < call.kvHeads; ++head) {
        if (splits > 1)
            plan.joins.push_back({spanIndex, head, plan.partials, splits});
        for (int64_t split = 0; split < splits; ++split) {
            plan.tasks.push_back({spanIndex, head, begin, end, keys.begin + length * split / splits,
                                  keys.begin + length * (split + 1) / splits,
                                  splits > 1 ? plan.partials++ : -1});
        }
    }
}

} // namespace

std::vector<Run> findRuns(const int64_t* positions, int64_t count) {
    std::vector<Run> runs;
    for (int64_t t = 0; t < count; ++t) {
        if (t == 0 || positions[t] != positions[t - 1] + 1)
            runs.push_back({t, t, positions[t]});
        runs.back().end = t + 1;
    }
    return runs;
}

KeyRange visibleKeys(const AttentionCall& call, const AttentionSpan& span, int64_t query) {
    const int64_t self = span.firstQuery + query;
    switch (call.mask) {
    case MaskKind::Causal:
        return {0, self + 1};
    case MaskKind::Sliding:
        return {std::max<int64_t>(0, self - call.window + 1), self + 1};
    case MaskKind::Chunked: {
        const int64_t position = span.firstPosition + self;
        const int64_t chunkStart = floorDivide(position, call.window) * call.window;
        return {std::max<int64_t>(0, chunkStart - span.firstPosition), self + 1};
    }
    case MaskKind::Full:
        break;
    }
    return {0, span.keys};
}

bool usesTiles(const AttentionCall& call, const AttentionSpan& span) {
    return call.dtype != c10::ScalarType::Double && span.queries * call.groups() >= kMinTileRows &&
           span.queries > 1;
}

AttentionPlan planTasks(const AttentionCall& call, int threads) {
    int64_t wholeTasks = 0;
    for (const AttentionSpan& span : call.spans) {
        const int64_t step = queriesPerTask(call, span);
        wholeTasks += call.kvHeads * ((span.queries + step - 1) / step);
    }
    AttentionPlan plan;
    for (size_t s = 0; s < call.spans.size(); ++s) {
        const int64_t step = queriesPerTask(call, call.spans[s]);
        for (int64_t begin = 0; begin < call.spans[s].queries; begin += step)
            addBlock(call, static_cast<int64_t>(s), begin, step, wholeTasks, threads, plan);
    }
    const auto cost = [](const AttentionTask& task) {
        return (task.queryEnd - task.queryBegin) * (task.keyEnd - task.keyBegin);
    };
    std::stable_sort(plan.tasks.begin(), plan.tasks.end(),
                     [&](const auto& a, const auto& b) { return cost(a) > cost(b); });
    return plan;
}

} // namespace workbench::ops
