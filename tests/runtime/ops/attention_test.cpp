#include "runtime/ops/attention.h"
#include "tests/runtime/ops/attention_reference.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>

namespace workbench::ops {
namespace {

using testing::expectRefused;
using testing::plainAttention;

struct Shape {
    int64_t queryHeads, kvHeads, width, valueWidth;
};
// Grouped, multi-head, multi-query; odd widths; values narrower and wider than keys, and wider than a GPU's
// block has threads; nine heads are not a multiple of the head block.
constexpr Shape kShapes[] = {{6, 2, 17, 17}, {9, 3, 64, 64},   {4, 4, 64, 32},
                             {5, 1, 8, 40},  {2, 1, 128, 128}, {2, 1, 24, 300}};

struct Mask {
    MaskKind kind;
    int64_t window;
};
constexpr Mask kMasks[] = {{MaskKind::Causal, 0},
                           {MaskKind::Sliding, 7},
                           {MaskKind::Chunked, 5},
                           {MaskKind::Full, 0},
                           {MaskKind::Sliding, 1}};

class AttentionTest : public testing::OpTest {
protected:
    at::Tensor positions(const std::vector<int64_t>& values) const {
        return at::tensor(values, at::kLong).reshape({1, -1}).to(GetParam().device);
    }

    /// Positions of sequences with these lengths, starting at these positions.
    at::Tensor packed(const std::vector<std::pair<int64_t, int64_t>>& runs) const {
        std::vector<int64_t> values;
        for (const auto& [first, length] : runs) {
            for (int64_t i = 0; i < length; ++i)
                values.push_back(first + i);
        }
        return positions(values);
    }

    AttentionArgs args(const Shape& shape, const at::Tensor& at, Mask mask = kMasks[0]) {
        const int64_t tokens = at.size(1);
        AttentionArgs result;
        // Tokens before heads in memory, as the view of a projection has them.
        result.query = random({1, tokens, shape.queryHeads, shape.width}).transpose(1, 2);
        result.key = random({1, tokens, shape.kvHeads, shape.width}).transpose(1, 2);
        result.value = random({1, tokens, shape.kvHeads, shape.valueWidth}).transpose(1, 2);
        result.positions = at;
        result.scale = 0.3;
        result.mask = mask.kind;
        result.window = mask.window;
        return result;
    }

    /// Inner roundings are float32's: 1e-5 of the value for float32, one place of the output for 16-bit
    /// dtypes.
    void expectLikePlain(const at::Tensor& actual, const AttentionArgs& args) const {
        std::vector<double> expected = plainAttention(args);
        for (double& value : expected)
            value = rounded(value);
        testing::expectClose(actual, expected,
                             dtype() == at::kFloat    ? 200
                             : dtype() == at::kDouble ? 1e5
                                                      : 1.01);
    }
};

TEST_P(AttentionTest, EqualsPlainReference) {
    for (const Shape& shape : kShapes) {
        for (const Mask& mask : kMasks) {
            for (const int64_t tokens : {1, 2, 33, 90}) {
                if (!takesNextCase())
                    continue;
                const AttentionArgs call = args(shape, packed({{0, tokens}}), mask);
                expectLikePlain(attention(call), call);
            }
        }
    }
}

TEST_P(AttentionTest, EqualsPlainReferenceOverSeveralTilesOfKeys) {
    for (const Shape& shape : kShapes) {
        for (const Mask& mask : kMasks) {
            if (!takesNextCase())
                continue;
            const AttentionArgs call = args(shape, packed({{0, 133}}), mask);
            expectLikePlain(attention(call), call);
        }
    }
}

TEST_P(AttentionTest, KeepsPackedSequencesApart) {
    for (const Mask& mask : kMasks) {
        const AttentionArgs call =
            args(kShapes[0], packed({{0, 13}, {0, 20}, {7, 1}, {3, 30}, {2, 2}}), mask);
        expectLikePlain(attention(call), call);
    }
}

TEST_P(AttentionTest, AppliesSoftcapSinksAndSlopes) {
    for (const int64_t tokens : {1, 3, 70, 140}) {
        for (const Mask& mask : kMasks) {
            if (!takesNextCase())
                continue;
            AttentionArgs call = args(kShapes[1], packed({{0, tokens}, {5, 9}}), mask);
            call.softcap = 2;
            expectLikePlain(attention(call), call);
            call.sinks = random({9});
            expectLikePlain(attention(call), call);
            call.softcap = 0;
            call.slopes = random({9}, 0.1);
            expectLikePlain(attention(call), call);
        }
    }
}

TEST_P(AttentionTest, StaysFiniteForLargeScores) {
    AttentionArgs call = args(kShapes[0], packed({{0, 40}}));
    call.scale = 500;
    const at::Tensor output = attention(call);
    EXPECT_TRUE(at::isfinite(output).all().item<bool>());
}

TEST_P(AttentionTest, TakesAScaleOfAnySign) {
    AttentionArgs call = args(kShapes[0], packed({{0, 40}}));
    for (const double scale : {-0.3, 0.0, 1e-46}) { // float32 has no number for the last
        call.scale = scale;
        expectLikePlain(attention(call), call);
    }
}

TEST_P(AttentionTest, WhatIsNoNumberStaysInItsRow) {
    AttentionArgs call = args(kShapes[0], packed({{0, 150}}));
    call.query.select(2, 7).fill_(std::nan(""));
    const at::Tensor isNan = attention(call).isnan().flatten(2).any(-1);
    EXPECT_TRUE(isNan.select(1, 7).all().item<bool>());
    EXPECT_EQ(isNan.sum().item<int64_t>(), 1);
}

TEST_P(AttentionTest, SplitsLongKeyRanges) {
    // One query at the end of a long sequence is what decoding does; the range is cut where heads are few.
    for (const Mask& mask : {kMasks[0], Mask{MaskKind::Sliding, 300}, Mask{MaskKind::Chunked, 512}}) {
        AttentionArgs call = args({2, 1, 64, 64}, packed({{0, 700}}), mask);
        call.sinks = random({2});
        expectLikePlain(attention(call), call);
    }
}

TEST_P(AttentionTest, TakesAnyStrides) {
    AttentionArgs call = args(kShapes[0], packed({{0, 40}}));
    const at::Tensor expected = attention(call);
    call.query = testing::stridedCopy(call.query);
    call.key = testing::slicedCopy(call.key);
    call.value = testing::stridedCopy(call.value);
    EXPECT_TRUE(at::equal(attention(call), expected));
    call.key = call.key.contiguous();
    EXPECT_TRUE(at::equal(attention(call), expected));
}

TEST_P(AttentionTest, HandlesNoTokens) {
    EXPECT_EQ(attention(args(kShapes[0], packed({}))).sizes(), (at::IntArrayRef{1, 0, 6, 17}));
}

TEST_P(AttentionTest, WritesIntoGivenOutput) {
    const AttentionArgs call = args(kShapes[0], packed({{0, 9}, {0, 4}}));
    at::Tensor output = random({1, 13, 6, 17});
    attentionInto(output, call);
    EXPECT_TRUE(at::equal(output, attention(call)));
}

TEST_P(AttentionTest, RefusesAnOutputOfAnotherShape) {
    at::Tensor headsFirst = random({1, 6, 4, 17});
    expectRefused(
        [&] {
            attentionInto(headsFirst, args(kShapes[0], packed({{0, 4}})));
        },
        "workbench::attention: output must be [1, 4, 6, 17]");
}

TEST_P(AttentionTest, RefusesWrongArguments) {
    const AttentionArgs good = args(kShapes[0], packed({{0, 4}}));
    const auto refuse = [&](auto change, const char* why) {
        AttentionArgs bad = good;
        change(bad);
        expectRefused([&] { attention(bad); }, why);
    };
    refuse([](auto& a) { a.window = 3; }, "workbench::attention: window must be 0 for a causal or full mask");
    refuse([](auto& a) { a.mask = MaskKind::Sliding; }, "window must be at least 1");
    refuse(
        [&](auto& a) {
            a.key = a.value = random({1, 4, 4, 17});
        },
        "the number of query heads must be a multiple of the key heads");
    refuse([&](auto& a) { a.key = random({1, 2, 4, 16}); }, "query and key must have one width");
    refuse([&](auto& a) { a.value = random({1, 1, 4, 17}); }, "key and value must have equally many heads");
    refuse([&](auto& a) { a.value = random({1, 2, 5, 17}); }, "equally many tokens");
    refuse([&](auto& a) { a.positions = a.positions.to(at::kInt); }, "positions must be [1, tokens] int64");
    refuse([&](auto& a) { a.query = random({2, 6, 4, 17}); }, "query must be [1, heads, tokens, width]");
    refuse([&](auto& a) { a.sinks = random({5}); }, "sinks must be [6]");
    refuse([&](auto& a) { a.slopes = random({6, 1}); }, "slopes must be [6]");
    refuse([&](auto& a) { a.key = a.key.to(dtype() == at::kFloat ? at::kDouble : at::kFloat); },
           "key must have the dtype");
}

TEST_P(AttentionTest, MaskShowsWhoSeesWhom) {
    const at::Tensor at = packed({{0, 9}, {4, 6}, {0, 1}});
    const std::vector<int64_t> values = testing::toIntegers(at);
    for (const Mask& kind : kMasks) {
        const at::Tensor seen = mask(at, kind.kind, kind.window);
        ASSERT_EQ(seen.sizes(), (at::IntArrayRef{1, 1, 16, 16}));
        for (int64_t i = 0; i < 16; ++i) {
            for (int64_t j = 0; j < 16; ++j)
                EXPECT_EQ(seen[0][0][i][j].item<bool>(),
                          testing::plainSees(values, i, j, kind.kind, kind.window));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

} // namespace
} // namespace workbench::ops
