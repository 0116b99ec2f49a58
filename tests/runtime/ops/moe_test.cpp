#include "runtime/ops/kernels.h"
#include "runtime/ops/moe.h"
#include "runtime/ops/moe_pairs.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

namespace workbench::ops {
namespace {

using testing::expectClose;
using testing::expectRefused;
using testing::toDoubles;

struct Sizes {
    int64_t tokens, k, experts, hidden, inner, outputs;
};

/// One token, none, odd widths, one expert per token, all of them, more experts than pairs, many tokens.
constexpr Sizes kSizes[] = {{1, 2, 8, 64, 32, 64},   {0, 2, 8, 64, 32, 64},   {5, 3, 7, 37, 19, 23},
                            {4, 1, 3, 17, 5, 17},    {6, 4, 4, 16, 8, 16},    {3, 2, 64, 33, 16, 33},
                            {130, 2, 4, 48, 40, 48}, {40, 18, 20, 24, 8, 24}, {2, 1, 1, 1, 1, 1}};

class MoeTest : public testing::OpTest {
protected:
    /// A choice of `k` different experts for each token.
    at::Tensor choice(const Sizes& sizes) const {
        at::Tensor indices = at::empty({sizes.tokens, sizes.k}, at::kLong);
        auto* data = indices.mutable_data_ptr<int64_t>();
        for (int64_t i = 0; i < indices.numel(); ++i)
            data[i] = (i / sizes.k * 5 + i % sizes.k * (sizes.experts > 2 ? 1 : 0)) % sizes.experts;
        return indices.to(GetParam().device);
    }

    /// In double precision, rounded where the graph rounds.
    std::vector<double> plain(const MoeArgs& args, const at::Tensor& gateUp, const at::Tensor& down) const {
        const int64_t hidden = gateUp.size(2), inner = down.size(2), outputs = down.size(1);
        const std::vector<double> x = toDoubles(args.hidden), w = toDoubles(args.routingWeights),
                                  first = toDoubles(gateUp), second = toDoubles(down);
        const at::Tensor chosen = args.indices.cpu();
        const bool wide = args.routingWeights.scalar_type() != dtype();
        std::vector<double> result;
        for (int64_t token = 0; token < chosen.size(0); ++token) {
            std::vector<double> sums(static_cast<size_t>(outputs));
            for (int64_t i = 0; i < chosen.size(1); ++i) {
                const int64_t expert = chosen[token][i].item<int64_t>();
                const auto dot = [&](const std::vector<double>& weight, int64_t row, const double* from,
                                     int64_t count) {
                    return rounded(std::inner_product(from, from + count, weight.begin() + row * count, 0.0));
                };
                std::vector<double> gated;
                for (int64_t row = 0; row < inner; ++row) {
                    const double gate =
                        dot(first, expert * 2 * inner + row, &x[static_cast<size_t>(token * hidden)], hidden);
                    const double up = dot(first, expert * 2 * inner + inner + row,
                                          &x[static_cast<size_t>(token * hidden)], hidden);
                    gated.push_back(rounded(rounded(gate / (1 + std::exp(-gate))) * up));
                }
                const double weight = w[static_cast<size_t>(token * chosen.size(1) + i)];
                for (int64_t row = 0; row < outputs; ++row) {
                    const double out = dot(second, expert * outputs + row, gated.data(), inner) * weight;
                    sums[static_cast<size_t>(row)] += wide ? out : rounded(out);
                }
            }
            for (const double sum : sums)
                result.push_back(rounded(sum));
        }
        return result;
    }

    MoeArgs arguments(const Sizes& sizes) {
        return {random({sizes.tokens, sizes.hidden}), random({sizes.tokens, sizes.k}).abs(), choice(sizes),
                Activation::Silu};
    }
    at::Tensor firstWeight(const Sizes& sizes) {
        return random({sizes.experts, 2 * sizes.inner, sizes.hidden},
                      1 / std::sqrt(static_cast<double>(sizes.hidden)));
    }
    at::Tensor secondWeight(const Sizes& sizes) {
        return random({sizes.experts, sizes.outputs, sizes.inner},
                      1 / std::sqrt(static_cast<double>(sizes.inner)));
    }
    bool packs() const { return runsCpuKernels() && canPack(dtype()); }
};

/// Roundings of three steps may each fall to the other side.
void expectSame(const at::Tensor& actual, const std::vector<double>& expected) {
    if (actual.scalar_type() == at::kFloat || actual.scalar_type() == at::kDouble) {
        expectClose(actual, expected, 64);
        return;
    }
    const std::vector<double> found = toDoubles(actual);
    ASSERT_EQ(found.size(), expected.size());
    const double ulp = actual.scalar_type() == at::kHalf ? 0x1p-10 : 0x1p-7;
    double scale = 0.01;
    for (const double value : expected)
        scale = std::max(scale, std::abs(value));
    for (size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(std::abs(found[i] - expected[i]), 2 * ulp * scale) << i;
}

TEST_P(MoeTest, PlainWeightsEqualThePlainReference) {
    for (const Sizes& sizes : kSizes) {
        const MoeArgs args = arguments(sizes);
        const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
        const at::Tensor output = moeExperts(args, gateUp, down);
        EXPECT_EQ(output.sizes(), (at::IntArrayRef{sizes.tokens, sizes.outputs}));
        expectSame(output, plain(args, gateUp, down));
    }
}

TEST_P(MoeTest, PackedWeightsEqualThePlainReferenceOnEveryInstructionSet) {
    if (!packs())
        GTEST_SKIP() << "only float32 and bfloat16 on the CPU are packed";
    for (const Kernels* kernels : cpuKernelSets())
        for (const Sizes& sizes : kSizes) {
            SCOPED_TRACE(kernels->name);
            const MoeArgs args = arguments(sizes);
            const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
            expectSame(moeExpertsWith(*kernels, args, PackedWeight::of(gateUp), PackedWeight::of(down)),
                       plain(args, gateUp, down));
        }
}

TEST_P(MoeTest, WeightsInFloat32StayThereUntilTheSum) {
    if (dtype() == at::kDouble)
        GTEST_SKIP() << "weights of float64 tokens are float64";
    const Sizes sizes{9, 3, 5, 40, 16, 40};
    MoeArgs args = arguments(sizes);
    args.routingWeights = at::rand({9, 3}, args.hidden.options().dtype(at::kFloat));
    const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
    expectSame(moeExperts(args, gateUp, down), plain(args, gateUp, down));
    if (packs())
        expectSame(moeExperts(args, PackedWeight::of(gateUp), PackedWeight::of(down)),
                   plain(args, gateUp, down));
}

TEST_P(MoeTest, OneExpertMayHaveAllTokensAndBeChosenTwice) {
    const Sizes sizes{33, 2, 6, 32, 16, 32};
    MoeArgs args = arguments(sizes);
    args.indices = at::full_like(args.indices, 3);
    const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
    expectSame(moeExperts(args, gateUp, down), plain(args, gateUp, down));
    if (packs())
        expectSame(moeExperts(args, PackedWeight::of(gateUp), PackedWeight::of(down)),
                   plain(args, gateUp, down));
}

TEST_P(MoeTest, ATokenHasTheSameBitsWhateverTokensAreBesideIt) {
    if (!packs())
        GTEST_SKIP() << "only float32 and bfloat16 on the CPU are packed";
    const Sizes sizes{37, 2, 5, 48, 24, 48};
    const MoeArgs args = arguments(sizes);
    const PackedWeight gateUp = PackedWeight::of(firstWeight(sizes)),
                       down = PackedWeight::of(secondWeight(sizes));
    const at::Tensor all = moeExperts(args, gateUp, down);
    for (const int64_t token : {0, 17, 36}) {
        const MoeArgs one{args.hidden.narrow(0, token, 1), args.routingWeights.narrow(0, token, 1),
                          args.indices.narrow(0, token, 1), args.activation};
        EXPECT_TRUE(at::equal(moeExperts(one, gateUp, down), all.narrow(0, token, 1)));
    }
}

/// In rows of whole groups of four registers, which PyTorch adds up one after the other; it adds what is left
/// over in another order.
TEST_P(MoeTest, SumsAsPyTorchDoes) {
    for (const int64_t k : {1, 2, 8, 15, 16, 17, 40}) {
        const int64_t tokens = k == 1 ? 33000 : 6; // more than one side of a GPU's grid
        MoeSumCall call{.dtype = dtype(), .weightsDtype = dtype()};
        const at::Tensor outputs = random({tokens * k, 128}), weights = random({tokens, k});
        at::Tensor places = at::arange(tokens * k, at::TensorOptions(at::kLong).device(GetParam().device));
        at::Tensor result = at::empty({tokens, 128}, outputs.options());
        call.outputs = outputs.const_data_ptr();
        call.places = places.const_data_ptr<int64_t>();
        call.routingWeights = weights.const_data_ptr();
        call.tokens = tokens;
        call.topK = k;
        call.width = 128;
        call.output = result.mutable_data_ptr();
        kernels().moeSum(call);
        const at::Tensor expected = (outputs * weights.reshape({-1, 1})).view({tokens, k, 128}).sum(1);
        if (runsCpuKernels())
            EXPECT_TRUE(at::equal(result, expected)) << k;
        else
            testing::expectCloseSums(result, expected);
    }
}

TEST_P(MoeTest, PickedExpertsAreThePlainMatrices) {
    if (!packs())
        GTEST_SKIP() << "only float32 and bfloat16 on the CPU are packed";
    for (const int64_t columns : {1, 7, 32, 35}) {
        const at::Tensor weight = random({5, 19, columns});
        const at::Tensor indices = at::tensor({4, 0, 0, -1, 2}, at::kLong);
        EXPECT_TRUE(at::equal(pickExperts(PackedWeight::of(weight), indices), weight.index({indices})));
    }
}

TEST_P(MoeTest, NegativeIndicesCountFromTheEndAsWhereATensorIsIndexed) {
    const Sizes sizes{3, 2, 4, 16, 8, 16};
    const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
    MoeArgs args = arguments(sizes);
    args.indices = at::tensor({3, 0, 1, 3, 2, 3}, args.indices.options()).view({3, 2});
    const at::Tensor expected = moeExperts(args, gateUp, down);
    args.indices = at::tensor({-1, 0, -3, 3, 2, -1}, args.indices.options()).view({3, 2});
    EXPECT_TRUE(at::equal(moeExperts(args, gateUp, down), expected));
}

TEST_P(MoeTest, RefusesWrongArguments) {
    const Sizes sizes{3, 2, 4, 16, 8, 16};
    const MoeArgs args = arguments(sizes);
    const at::Tensor gateUp = firstWeight(sizes), down = secondWeight(sizes);
    MoeArgs wrong = args;
    wrong.routingWeights = random({3, 1});
    expectRefused([&] { moeExperts(wrong, gateUp, down); },
                  "workbench::moe_experts: routing_weights must be [3, 2] like indices");
    wrong = args;
    wrong.indices = args.indices.to(at::kInt);
    expectRefused([&] { moeExperts(wrong, gateUp, down); },
                  "workbench::moe_experts: indices must be int64 [tokens, k]");
    expectRefused(
        [&] {
            moeExperts(args, gateUp, random({4, 16, 7}));
        },
        "workbench::moe_experts: gate_up must be [experts, 2I, 16]");
    if (GetParam().device != at::kCPU)
        return;
    wrong = args;
    wrong.indices = at::full_like(args.indices, 4);
    expectRefused([&] { moeExperts(wrong, gateUp, down); },
                  "workbench::moe_experts: index 4 is not one of the 4 experts.");
    wrong.indices = at::full_like(args.indices, -5);
    expectRefused([&] { moeExperts(wrong, gateUp, down); },
                  "workbench::moe_experts: index -5 is not one of the 4 experts.");
}

INSTANTIATE_TEST_SUITE_P(All, MoeTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

TEST(SortByExpert, GroupsPairsInTheOrderOfTheirTokens) {
    const ExpertPairs pairs = sortByExpert(at::tensor({2, 0, 0, 2, 1, 2}, at::kLong).view({3, 2}), 4);
    EXPECT_EQ(pairs.begins, (std::vector<int64_t>{0, 2, 3, 6, 6}));
    EXPECT_TRUE(at::equal(pairs.experts, at::tensor({0, 0, 1, 2, 2, 2}, at::kLong)));
    EXPECT_TRUE(at::equal(pairs.tokens, at::tensor({0, 1, 2, 0, 1, 2}, at::kLong)));
    EXPECT_TRUE(at::equal(pairs.places, at::tensor({3, 0, 1, 4, 2, 5}, at::kLong)));
}

class MoeRouteTest : public testing::OpTest {
protected:
    /// As transformers' routers write it.
    std::tuple<at::Tensor, at::Tensor> plain(const at::Tensor& logits, const RouteSpec& spec) const {
        const at::Tensor wide = dtype() == at::kDouble ? logits : logits.to(at::kFloat);
        const bool first = spec.order == RouteOrder::SoftmaxFirst;
        auto [weights, indices] =
            at::topk(first ? at::softmax(wide, -1) : wide, spec.topK, -1, true, spec.sorted);
        if (!first)
            weights = at::softmax(weights, -1);
        if (spec.renormalize)
            weights = weights / weights.sum(-1, true);
        return {weights.to(spec.dtype), indices};
    }

    /// Different experts with these logits, whichever of equal ones.
    static void expectEqualPicks(const at::Tensor& logits, const at::Tensor& picked,
                                 const at::Tensor& expected) {
        EXPECT_TRUE(at::equal(logits.gather(1, picked), logits.gather(1, expected)));
        const at::Tensor ordered = std::get<0>(picked.sort(1));
        EXPECT_TRUE(ordered.diff().gt(0).all().item<bool>());
    }
};

TEST_P(MoeRouteTest, EqualsTheOpsThatItReplaces) {
    for (const int64_t experts : {1, 3, 8, 60, 128, 513})
        for (const int64_t k : {1, 2, 7, 10, 128})
            for (const RouteOrder order : {RouteOrder::SoftmaxFirst, RouteOrder::TopKFirst})
                for (const bool renormalize : {false, true}) {
                    if (k > experts)
                        continue;
                    const RouteSpec spec{k, order, renormalize, true, dtype()};
                    const at::Tensor logits = random({11, experts}, 3);
                    const auto [weights, indices] = moeRoute(logits, spec);
                    const auto [expectedWeights, expectedIndices] = plain(logits, spec);
                    testing::expectCloseSums(weights, expectedWeights);
                    if (runsCpuKernels())
                        EXPECT_TRUE(at::equal(indices, expectedIndices)) << experts << " " << k;
                    else
                        expectEqualPicks(logits, indices, expectedIndices);
                }
}

TEST_P(MoeRouteTest, EqualLogitsGiveTheExpertsThatTopKGives) {
    if (!runsCpuKernels())
        GTEST_SKIP() << "a GPU's top-k promises no order of equal scores";
    for (const bool sorted : {false, true})
        for (const int64_t experts : {16, 64, 500})
            for (const int64_t k : {2, 6}) {
                const RouteSpec spec{k, RouteOrder::SoftmaxFirst, true, sorted, at::kFloat};
                const at::Tensor logits = (random({50, experts}) * 2).round();
                const auto [weights, indices] = moeRoute(logits, spec);
                const auto [expectedWeights, expectedIndices] = plain(logits, spec);
                EXPECT_TRUE(at::equal(indices, expectedIndices)) << experts << " " << k << " " << sorted;
            }
}

TEST_P(MoeRouteTest, EqualLogitsGiveTheFirstExpertsOnAGpu) {
    if (runsCpuKernels())
        GTEST_SKIP() << "the CPU takes the experts that top-k takes";
    for (const RouteOrder order : {RouteOrder::SoftmaxFirst, RouteOrder::TopKFirst}) {
        const RouteSpec spec{6, order, true, true, at::kFloat};
        const at::Tensor logits = (random({50, 64}) * 2).round();
        const auto [weights, indices] = moeRoute(logits, spec);
        testing::expectCloseSums(weights, std::get<0>(plain(logits, spec)));
        EXPECT_TRUE(
            at::equal(indices, logits.argsort(/*stable=*/true, 1, /*descending=*/true).slice(1, 0, 6)));
    }
}

TEST_P(MoeRouteTest, HandlesNoTokensAndOtherStrides) {
    const RouteSpec spec{2, RouteOrder::SoftmaxFirst, false, true, dtype()};
    EXPECT_EQ(std::get<0>(moeRoute(random({0, 4}), spec)).sizes(), (at::IntArrayRef{0, 2}));
    const at::Tensor logits = random({6, 4});
    EXPECT_TRUE(at::equal(std::get<1>(moeRoute(testing::stridedCopy(logits), spec)),
                          std::get<1>(moeRoute(logits, spec))));
}

TEST_P(MoeRouteTest, RefusesMoreThanThereAre) {
    expectRefused(
        [&] {
            moeRoute(random({2, 4}), {5, RouteOrder::SoftmaxFirst, false, true, at::kFloat});
        },
        "workbench::moe_route: logits must be [tokens, experts] with at least top_k = 5");
}

INSTANTIATE_TEST_SUITE_P(All, MoeRouteTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

} // namespace
} // namespace workbench::ops
