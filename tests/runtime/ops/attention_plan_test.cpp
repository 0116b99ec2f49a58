#include "runtime/ops/attention_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace workbench::ops {
namespace {

std::vector<std::array<int64_t, 3>> runs(const std::vector<int64_t>& positions) {
    std::vector<std::array<int64_t, 3>> result;
    for (const Run& run : findRuns(positions.data(), static_cast<int64_t>(positions.size())))
        result.push_back({run.begin, run.end, run.position});
    return result;
}

AttentionCall callWith(const std::vector<AttentionSpan>& spans, MaskKind mask = MaskKind::Causal,
                       int64_t window = 0) {
    AttentionCall call;
    call.queryHeads = 6;
    call.kvHeads = 2;
    call.width = call.valueWidth = 64;
    call.mask = mask;
    call.window = window;
    call.spans = spans;
    return call;
}

TEST(AttentionPlan, FindsRunsOfConsecutivePositions) {
    using Runs = std::vector<std::array<int64_t, 3>>;
    EXPECT_EQ(runs({}), Runs{});
    EXPECT_EQ(runs({5}), (Runs{{0, 1, 5}}));
    EXPECT_EQ(runs({0, 1, 2, 0, 1, 7}), (Runs{{0, 3, 0}, {3, 5, 0}, {5, 6, 7}}));
    EXPECT_EQ(runs({3, 3, 3}), (Runs{{0, 1, 3}, {1, 2, 3}, {2, 3, 3}}));
}

TEST(AttentionPlan, ChunksFollowPositionsNotIndices) {
    const AttentionSpan span{4, 4, 0, 6}; // positions 6 to 9
    const AttentionCall call = callWith({span}, MaskKind::Chunked, 4);
    EXPECT_EQ(visibleKeys(call, span, 1).begin, 0); // position 7 is in chunk 4 to 7
    EXPECT_EQ(visibleKeys(call, span, 2).begin, 2); // position 8 starts a chunk
}

/// Every (span, head, query, key) that is visible belongs to exactly one task.
void expectEachPairOnce(const AttentionCall& call, int threads) {
    const AttentionPlan plan = planTasks(call, threads);
    std::map<std::array<int64_t, 3>, std::multiset<int64_t>> keys;
    std::set<int64_t> partials;
    for (const AttentionTask& task : plan.tasks) {
        if (task.partial >= 0) {
            EXPECT_TRUE(partials.insert(task.partial).second);
        }
        for (int64_t query = task.queryBegin; query < task.queryEnd; ++query) {
            for (int64_t key = task.keyBegin; key < task.keyEnd; ++key)
                keys[{task.span, task.kvHead, query}].insert(key);
        }
    }
    for (size_t s = 0; s < call.spans.size(); ++s) {
        for (int64_t head = 0; head < call.kvHeads; ++head) {
            for (int64_t query = 0; query < call.spans[s].queries; ++query) {
                const KeyRange seen = visibleKeys(call, call.spans[s], query);
                const auto& planned = keys[{static_cast<int64_t>(s), head, query}];
                for (int64_t key = seen.begin; key < seen.end; ++key)
                    ASSERT_EQ(planned.count(key), 1U) << "span " << s << " query " << query << " key " << key;
            }
        }
    }
    EXPECT_EQ(static_cast<int64_t>(partials.size()), plan.partials);
    int64_t joined = 0;
    for (const AttentionJoin& join : plan.joins)
        joined += join.count;
    EXPECT_EQ(joined, plan.partials);
}

TEST(AttentionPlan, CoversEveryPairExactlyOnce) {
    const std::vector<AttentionSpan> spans{
        {300, 300, 0, 0}, {1, 1000, 999, 0}, {1, 1, 0, 9}, {5, 105, 100, 0}, {3, 3, 0, 0}};
    for (const int threads : {1, 2, 8}) {
        expectEachPairOnce(callWith(spans), threads);
        expectEachPairOnce(callWith(spans, MaskKind::Sliding, 40), threads);
        expectEachPairOnce(callWith(spans, MaskKind::Chunked, 64), threads);
        expectEachPairOnce(callWith(spans, MaskKind::Full), threads);
    }
}

TEST(AttentionPlan, SplitsOnlyWhatIsLongAndOnlyForSeveralThreads) {
    const AttentionCall longDecode = callWith({{1, 1000, 999, 0}});
    EXPECT_GT(planTasks(longDecode, 2).partials, 0);
    EXPECT_EQ(planTasks(longDecode, 1).partials, 0);
    EXPECT_EQ(planTasks(callWith({{1, 100, 99, 0}}), 8).partials, 0);
}

TEST(AttentionPlan, PutsHeaviestTasksFirst) {
    const AttentionPlan plan = planTasks(callWith({{300, 300, 0, 0}, {1, 1000, 999, 0}}), 2);
    const auto cost = [](const AttentionTask& task) {
        return (task.queryEnd - task.queryBegin) * (task.keyEnd - task.keyBegin);
    };
    for (size_t i = 1; i < plan.tasks.size(); ++i)
        EXPECT_GE(cost(plan.tasks[i - 1]), cost(plan.tasks[i]));
}

} // namespace
} // namespace workbench::ops
