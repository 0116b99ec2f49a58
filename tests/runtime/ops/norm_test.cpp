#include "runtime/ops/norm.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>

namespace workbench::ops {
namespace {

using testing::expectClose;
using testing::expectEqual;
using testing::expectRefused;
using testing::toDoubles;

class NormTest : public testing::OpTest {
protected:
    /// The formula of runtime/ops/norm.h, one row after the other.
    std::vector<double> plain(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                              const NormSpec& spec) const {
        std::vector<double> x = toDoubles(input);
        const std::vector<double> w = weight.has_value() ? toDoubles(*weight) : std::vector<double>{};
        const auto width = static_cast<size_t>(input.size(-1));
        for (size_t row = 0; row < x.size(); row += width) {
            double squares = 0;
            for (size_t i = 0; i < width; ++i)
                squares += x[row + i] * x[row + i];
            const double inverse = 1 / std::sqrt(squares / static_cast<double>(width) + spec.eps);
            for (size_t i = 0; i < width; ++i)
                x[row + i] = weighted(x[row + i] * inverse, w.empty() ? nullptr : &w[i], spec);
        }
        return x;
    }

    double weighted(double y, const double* weight, const NormSpec& spec) const {
        if (weight == nullptr)
            return rounded(y);
        if (spec.cast == NormCast::AfterWeight)
            return rounded(y * (spec.weightOffset + *weight));
        return rounded(rounded(y) * rounded(spec.weightOffset + *weight));
    }

    std::vector<double> plainSum(const at::Tensor& a, const at::Tensor& b) const {
        std::vector<double> sum = toDoubles(a);
        const std::vector<double> other = toDoubles(b);
        for (size_t i = 0; i < sum.size(); ++i)
            sum[i] = rounded(sum[i] + other[i]);
        return sum;
    }
};

const NormSpec kSpecs[] = {{1e-5, 0, NormCast::BeforeWeight},
                           {1e-6, 0, NormCast::AfterWeight},
                           {1e-6, 1, NormCast::AfterWeight},
                           {1e-5, 1, NormCast::BeforeWeight}};

TEST_P(NormTest, EqualsPlainReference) {
    for (const NormSpec& spec : kSpecs) {
        for (const int64_t width : {1, 17, 64, 576, 1000}) {
            for (const int64_t rows : {1, 33}) {
                const at::Tensor input = random({rows, width}, 3);
                const at::Tensor weight = random({width});
                expectClose(rmsNorm(input, weight, spec), plain(input, weight, spec), 8);
                expectClose(rmsNorm(input, std::nullopt, spec), plain(input, std::nullopt, spec), 8);
            }
        }
    }
}

TEST_P(NormTest, TakesAnyStrides) {
    const at::Tensor weight = random({24});
    const at::Tensor input = random({2, 5, 3, 24}, 2);
    const std::vector<double> expected = plain(input, weight, kSpecs[0]);
    expectClose(rmsNorm(testing::stridedCopy(input), weight, kSpecs[0]), expected, 8);
    expectClose(rmsNorm(testing::slicedCopy(input), weight, kSpecs[0]), expected, 8);
    const at::Tensor swapped = input.transpose(1, 2);
    expectClose(rmsNorm(swapped, weight, kSpecs[0]), plain(swapped, weight, kSpecs[0]), 8);
    const at::Tensor expanded = input.narrow(1, 0, 1).expand({2, 5, 3, 24});
    expectClose(rmsNorm(expanded, weight, kSpecs[0]), plain(expanded, weight, kSpecs[0]), 8);
    const at::Tensor deep = random({2, 2, 2, 2, 2, 24}).permute({4, 3, 2, 1, 0, 5});
    expectClose(rmsNorm(deep, weight, kSpecs[0]), plain(deep, weight, kSpecs[0]), 8);
}

TEST_P(NormTest, HandlesNoRows) {
    EXPECT_EQ(rmsNorm(random({0, 8}), random({8}), kSpecs[0]).sizes(), (at::IntArrayRef{0, 8}));
    const auto [normed, sum] = addRmsNorm(random({2, 0, 8}), random({2, 0, 8}), std::nullopt, kSpecs[0]);
    EXPECT_EQ(normed.numel() + sum.numel(), 0);
}

TEST_P(NormTest, AddsAndNormalizes) {
    for (const NormSpec& spec : kSpecs) {
        for (const int64_t width : {17, 576}) {
            const at::Tensor input = random({1, 33, width});
            const at::Tensor residual = random({1, 33, width}, 5);
            const at::Tensor weight = random({width});
            const auto [normed, sum] =
                addRmsNorm(testing::slicedCopy(input), testing::stridedCopy(residual), weight, spec);
            expectEqual(sum, plainSum(input, residual));
            expectClose(normed, plain(sum, weight, spec), 8);
        }
    }
}

TEST_P(NormTest, WritesInPlace) {
    const at::Tensor input = random({7, 40});
    const at::Tensor residual = random({7, 40});
    const at::Tensor weight = random({40});
    const auto [normed, sum] = addRmsNorm(input, residual, weight, kSpecs[0]);
    at::Tensor normedOut = input.clone();
    at::Tensor sumOut = residual.clone();
    addRmsNormInto(normedOut, sumOut, normedOut, sumOut, weight, kSpecs[0]);
    EXPECT_TRUE(at::equal(normedOut, normed));
    EXPECT_TRUE(at::equal(sumOut, sum));
    at::Tensor inPlace = sum.clone();
    rmsNormInto(inPlace, inPlace, weight, kSpecs[0]);
    EXPECT_TRUE(at::equal(inPlace, normed));
}

TEST_P(NormTest, RefusesWrongArguments) {
    const at::Tensor input = random({3, 8});
    expectRefused([&] { rmsNorm(input, random({7}), {}); }, "workbench::rms_norm: weight must be [8]");
    expectRefused(
        [&] { rmsNorm(input, random({8}).to(dtype() == at::kFloat ? at::kDouble : at::kFloat), {}); },
        "workbench::rms_norm: weight must have the dtype");
    expectRefused([&] { rmsNorm(input.to(at::kLong), std::nullopt, {}); },
                  "input must be a floating-point tensor");
    expectRefused(
        [&] {
            addRmsNorm(input, random({3, 9}), std::nullopt, {});
        },
        "workbench::add_rms_norm: residual must be [3, 8]");
    at::Tensor small = random({2, 8});
    expectRefused([&] { rmsNormInto(small, input, std::nullopt, {}); }, "output must be [3, 8]");
}

INSTANTIATE_TEST_SUITE_P(All, NormTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

} // namespace
} // namespace workbench::ops
