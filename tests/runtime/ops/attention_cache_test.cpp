// Attention over a cache: any way of cutting a sequence into calls gives what one call over the whole
// sequence gives.
#include "runtime/ops/attention.h"
#include "tests/runtime/ops/attention_reference.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

namespace workbench::ops {
namespace {

using testing::expectRefused;

class AttentionCacheTest : public testing::OpTest {
protected:
    static constexpr int64_t kTokens = 400;

    AttentionArgs whole(MaskKind mask, int64_t window) {
        AttentionArgs args;
        args.query = random({1, kTokens, 6, 64}).transpose(1, 2);
        args.key = random({1, kTokens, 2, 64}).transpose(1, 2);
        args.value = random({1, kTokens, 2, 48}).transpose(1, 2);
        args.positions = at::arange(kTokens, at::kLong).unsqueeze(0);
        args.scale = 0.2;
        args.mask = mask;
        args.window = window;
        args.sinks = random({6});
        return args;
    }

    static AttentionArgs part(const AttentionArgs& whole, int64_t first, int64_t count) {
        AttentionArgs args = whole;
        args.query = whole.query.narrow(2, first, count);
        args.key = whole.key.narrow(2, first, count);
        args.value = whole.value.narrow(2, first, count);
        args.positions = whole.positions.narrow(1, first, count);
        return args;
    }

    KvCacheView emptyCache(int64_t capacity = kTokens) {
        const double nan = std::numeric_limits<double>::quiet_NaN(); // what is not stored must not be read
        return {at::full({capacity, 2, 64}, nan, random({1}).options()),
                at::full({capacity, 2, 48}, nan, random({1}).options()), 0};
    }
};

TEST_P(AttentionCacheTest, EqualsOneCallHoweverTheSequenceIsCut) {
    for (const auto& [mask, window] :
         {std::pair{MaskKind::Causal, int64_t{0}}, {MaskKind::Sliding, 50}, {MaskKind::Chunked, 64}}) {
        const AttentionArgs args = whole(mask, window);
        const at::Tensor expected = attention(args);
        for (const std::vector<int64_t>& cuts :
             {std::vector<int64_t>{400}, {1, 1, 398}, {300, 1, 1, 1, 97}, {7, 50, 343}}) {
            KvCacheView cache = emptyCache();
            int64_t first = 0;
            for (const int64_t count : cuts) {
                const at::Tensor output = attentionWithCache(part(args, first, count), cache);
                testing::expectCloseSums(output, expected.narrow(1, first, count));
                first += count;
                EXPECT_EQ(cache.length, first);
            }
        }
    }
}

TEST_P(AttentionCacheTest, ForgetsLaterRowsWhenRewound) {
    const AttentionArgs args = whole(MaskKind::Causal, 0);
    const at::Tensor expected = attention(args);
    KvCacheView cache = emptyCache();
    AttentionArgs wrong = part(args, 100, 200);
    wrong.key = wrong.key * 2;
    attentionWithCache(part(args, 0, 100), cache);
    attentionWithCache(wrong, cache);
    testing::expectCloseSums(attentionWithCache(part(args, 100, 5), cache), expected.narrow(1, 100, 5));
    EXPECT_EQ(cache.length, 105);
    testing::expectCloseSums(attentionWithCache(part(args, 105, 1), cache), expected.narrow(1, 105, 1));
}

TEST_P(AttentionCacheTest, TakesCachesOrderedByHead) {
    const AttentionArgs args = whole(MaskKind::Causal, 0);
    KvCacheView cache = makeKvCache(kTokens, 2, 64, 48, dtype());
    attentionWithCache(part(args, 0, 399), cache);
    testing::expectCloseSums(attentionWithCache(part(args, 399, 1), cache),
                             attention(args).narrow(1, 399, 1));
}

TEST_P(AttentionCacheTest, WritesIntoGivenOutput) {
    const AttentionArgs args = part(whole(MaskKind::Causal, 0), 0, 3);
    KvCacheView one = emptyCache();
    KvCacheView two = emptyCache();
    at::Tensor output = random({1, 3, 6, 48});
    attentionWithCacheInto(output, args, one);
    EXPECT_TRUE(at::equal(output, attentionWithCache(args, two)));
}

TEST_P(AttentionCacheTest, RefusesWhatTheCacheCannotHold) {
    const AttentionArgs args = whole(MaskKind::Causal, 0);
    KvCacheView cache = emptyCache(10);
    expectRefused([&] { attentionWithCache(part(args, 0, 11), cache); },
                  "position 10 is past the cache's capacity of 10 tokens");
    expectRefused([&] { attentionWithCache(part(args, 4, 1), cache); },
                  "positions start at 4, but the cache holds 0 tokens");
    AttentionArgs gap = part(args, 0, 2);
    gap.positions = at::tensor({0, 2}, at::kLong).unsqueeze(0);
    expectRefused([&] { attentionWithCache(gap, cache); }, "must be consecutive, got 2 after 0");
    AttentionArgs full = part(args, 0, 2);
    full.mask = MaskKind::Full;
    expectRefused([&] { attentionWithCache(full, cache); }, "a full mask has no cached form");
    KvCacheView narrow = emptyCache(10);
    narrow.key = narrow.key.narrow(2, 0, 60);
    expectRefused([&] { attentionWithCache(part(args, 0, 2), narrow); },
                  "the cache of key must be [capacity, 2, 64]");
    EXPECT_EQ(cache.length, 0);
}

std::vector<testing::Where> onCpu() {
    std::vector<testing::Where> places = testing::allPlaces();
    std::erase_if(places, [](const testing::Where& where) { return where.device != at::kCPU; });
    return places;
}

INSTANTIATE_TEST_SUITE_P(Cpu, AttentionCacheTest, ::testing::ValuesIn(onCpu()), testing::whereName);

} // namespace
} // namespace workbench::ops
