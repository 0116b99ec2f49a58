#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>

namespace workbench::ops {
namespace {

using testing::expectEqual;
using testing::expectRefused;
using testing::toDoubles;

constexpr RopeStyle kStyles[] = {RopeStyle::Half, RopeStyle::Interleaved};

class RopeTest : public testing::OpTest {
protected:
    /// x [B, H, T, D], cos and sin [1 or B, T, R]: the formula of runtime/ops/rope.h, one element after the
    /// other.
    std::vector<double> plain(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                              RopeStyle style) const {
        const int64_t width = x.size(3);
        const int64_t rotary = cos.size(2);
        const std::vector<double> values = toDoubles(x);
        const std::vector<double> c = toDoubles(cos.expand({x.size(0), x.size(2), rotary}));
        const std::vector<double> s = toDoubles(sin.expand({x.size(0), x.size(2), rotary}));
        std::vector<double> result = values;
        for (int64_t row = 0; row < x.size(0) * x.size(1) * x.size(2); ++row) {
            const int64_t table = (row / x.size(2) / x.size(1) * x.size(2) + row % x.size(2)) * rotary;
            const double* from = values.data() + row * width;
            for (int64_t i = 0; i < rotary; ++i) {
                const double turned = style == RopeStyle::Half
                                          ? (i < rotary / 2 ? -from[i + rotary / 2] : from[i - rotary / 2])
                                          : (i % 2 == 0 ? -from[i + 1] : from[i - 1]);
                const auto at = static_cast<size_t>(table + i);
                result[static_cast<size_t>(row * width + i)] =
                    rounded(rounded(from[i] * c[at]) + rounded(turned * s[at]));
            }
        }
        return result;
    }

    std::pair<at::Tensor, at::Tensor> tables(int64_t batch, int64_t tokens, int64_t width) {
        const at::Tensor angles = random({batch, tokens, width}, 3).to(at::kDouble);
        return {angles.cos().to(dtype()), angles.sin().to(dtype())};
    }
};

TEST_P(RopeTest, EqualsPlainReference) {
    for (const RopeStyle style : kStyles) {
        for (const auto& [width, rotary] :
             {std::pair{64, 64}, {18, 18}, {64, 16}, {17, 6}, {128, 128}, {8, 0}}) {
            for (const int64_t tokens : {1, 33}) {
                const at::Tensor query = random({1, 6, tokens, width});
                const at::Tensor key = random({1, 2, tokens, width});
                const auto [cos, sin] = tables(1, tokens, rotary);
                const auto [queryOut, keyOut] = rope(query, key, cos, sin, style);
                expectEqual(queryOut, plain(query, cos, sin, style));
                expectEqual(keyOut, plain(key, cos, sin, style));
            }
        }
    }
}

TEST_P(RopeTest, TakesAnyStridesAndBatches) {
    for (const RopeStyle style : kStyles) {
        const at::Tensor query = random({3, 5, 4, 16}).transpose(1, 2); // as a projection's view has them
        const at::Tensor key = testing::slicedCopy(random({3, 2, 5, 16}));
        for (const int64_t tableBatch : {1, 3}) {
            const auto [cos, sin] = tables(tableBatch, 5, 16);
            const auto [queryOut, keyOut] =
                rope(query, testing::stridedCopy(key), cos, testing::stridedCopy(sin), style);
            expectEqual(queryOut, plain(query, cos, sin, style));
            expectEqual(keyOut, plain(key, cos, sin, style));
            EXPECT_TRUE(queryOut.is_contiguous() && keyOut.is_contiguous());
        }
    }
}

TEST_P(RopeTest, NormalizesHeadsFirst) {
    for (const RopeStyle style : kStyles) {
        for (const auto& [width, rotary] : {std::pair{64, 64}, {18, 12}, {128, 128}}) {
            for (const NormCast cast : {NormCast::BeforeWeight, NormCast::AfterWeight}) {
                const at::Tensor query = random({1, 33, 6, width}, 4);
                const at::Tensor key = testing::slicedCopy(random({1, 33, 2, width}));
                const QkNorm norm{random({width}),
                                  random({width}),
                                  {1e-6, cast == NormCast::AfterWeight ? 1.0 : 0.0, cast}};
                const auto [cos, sin] = tables(1, 33, rotary);
                const auto [queryOut, keyOut] = qkNormRope(query, key, norm, cos, sin, style);
                // The norm has a test of its own: here its result is the given.
                const at::Tensor normedQuery = rmsNorm(query, norm.queryWeight, norm.spec).transpose(1, 2);
                const at::Tensor normedKey = rmsNorm(key, norm.keyWeight, norm.spec).transpose(1, 2);
                if (runsCpuKernels()) { // one norm row kernel serves both operators there
                    expectEqual(queryOut, plain(normedQuery, cos, sin, style));
                    expectEqual(keyOut, plain(normedKey, cos, sin, style));
                } else {
                    testing::expectClose(queryOut, plain(normedQuery, cos, sin, style), 16);
                    testing::expectClose(keyOut, plain(normedKey, cos, sin, style), 16);
                }
            }
        }
    }
}

TEST_P(RopeTest, NormalizesWithoutWeights) {
    const at::Tensor query = random({1, 3, 2, 16}, 4);
    const at::Tensor key = random({1, 3, 1, 16}, 4);
    const auto [cos, sin] = tables(1, 3, 16);
    const QkNorm norm{std::nullopt, std::nullopt, {1e-6, 0, NormCast::BeforeWeight}};
    const auto [queryOut, keyOut] = qkNormRope(query, key, norm, cos, sin, RopeStyle::Half);
    testing::expectClose(
        queryOut, plain(rmsNorm(query, std::nullopt, norm.spec).transpose(1, 2), cos, sin, RopeStyle::Half),
        16);
    testing::expectClose(
        keyOut, plain(rmsNorm(key, std::nullopt, norm.spec).transpose(1, 2), cos, sin, RopeStyle::Half), 16);
}

TEST_P(RopeTest, HandlesNoTokens) {
    const auto [cos, sin] = tables(1, 0, 8);
    const auto [queryOut, keyOut] =
        rope(random({1, 2, 0, 8}), random({1, 1, 0, 8}), cos, sin, RopeStyle::Half);
    EXPECT_EQ(queryOut.sizes(), (at::IntArrayRef{1, 2, 0, 8}));
    EXPECT_EQ(keyOut.numel(), 0);
}

TEST_P(RopeTest, WritesIntoGivenOutput) {
    const at::Tensor query = random({1, 6, 5, 16}), key = random({1, 2, 5, 16});
    const at::Tensor turnedQuery = query.transpose(1, 2), turnedKey = key.transpose(1, 2);
    const auto [cos, sin] = tables(1, 5, 16);
    const QkNorm norm{random({16}), random({16}), {}};
    at::Tensor queryOut = random({1, 6, 5, 16}), keyOut = random({1, 2, 5, 16});
    ropeInto(queryOut, keyOut, query, key, cos, sin, RopeStyle::Half);
    const auto [queryRotated, keyRotated] = rope(query, key, cos, sin, RopeStyle::Half);
    EXPECT_TRUE(at::equal(queryOut, queryRotated) && at::equal(keyOut, keyRotated));
    qkNormRopeInto(queryOut, keyOut, turnedQuery, turnedKey, norm, cos, sin, RopeStyle::Half);
    const auto [queryNormed, keyNormed] = qkNormRope(turnedQuery, turnedKey, norm, cos, sin, RopeStyle::Half);
    EXPECT_TRUE(at::equal(queryOut, queryNormed) && at::equal(keyOut, keyNormed));
}

TEST_P(RopeTest, RefusesOutputsOfAnotherShape) {
    const at::Tensor query = random({1, 6, 5, 16}), key = random({1, 2, 5, 16});
    const at::Tensor turnedQuery = query.transpose(1, 2), turnedKey = key.transpose(1, 2);
    const auto [cos, sin] = tables(1, 5, 16);
    at::Tensor queryOut = random({1, 6, 5, 16}), keyOut = random({1, 2, 5, 16});
    at::Tensor shortQuery = random({1, 6, 4, 16}), unturnedKey = random({1, 5, 2, 16});
    expectRefused([&] { ropeInto(shortQuery, keyOut, query, key, cos, sin, RopeStyle::Half); },
                  "workbench::rope: query output must be [1, 6, 5, 16]");
    expectRefused(
        [&] { qkNormRopeInto(queryOut, unturnedKey, turnedQuery, turnedKey, {}, cos, sin, RopeStyle::Half); },
        "workbench::qk_norm_rope: key output must be [1, 2, 5, 16]");
}

TEST_P(RopeTest, RefusesWrongArguments) {
    const at::Tensor query = random({1, 2, 3, 8});
    const at::Tensor key = random({1, 1, 3, 8});
    const auto [cos, sin] = tables(1, 3, 8);
    const auto refuse = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& c,
                            const at::Tensor& s, const char* why) {
        expectRefused([&] { rope(q, k, c, s, RopeStyle::Half); }, why);
    };
    refuse(query, random({1, 1, 4, 8}), cos, sin, "workbench::rope: query and key must have one batch");
    refuse(query, key, random({1, 3, 7}), random({1, 3, 7}), "the width of cos must be even");
    refuse(query, key, random({1, 3, 10}), random({1, 3, 10}), "at most the head width 8");
    refuse(query, key, random({1, 2, 8}), random({1, 2, 8}), "cos must be [1 or batch, tokens, width]");
    refuse(query, key, cos, random({1, 3, 6}), "cos and sin must both be");
    refuse(query.squeeze(0), key, cos, sin, "query must be [batch, heads, tokens, width]");
    refuse(query, key, cos.to(dtype() == at::kFloat ? at::kDouble : at::kFloat), sin,
           "cos must have the dtype");
    const QkNorm norm{random({7}), std::nullopt, {}};
    expectRefused(
        [&] {
            qkNormRope(random({1, 3, 2, 8}), random({1, 3, 1, 8}), norm, cos, sin, RopeStyle::Half);
        },
        "workbench::qk_norm_rope: query_weight must be [8]");
}

INSTANTIATE_TEST_SUITE_P(All, RopeTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

} // namespace
} // namespace workbench::ops
