#include "runtime/ops/activation.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace workbench::ops {
namespace {

using testing::expectClose;
using testing::expectRefused;
using testing::toDoubles;

constexpr Activation kActivations[] = {Activation::Silu, Activation::Gelu, Activation::GeluTanh,
                                       Activation::Relu, Activation::Sigmoid};

double plainActivation(double x, Activation activation) {
    switch (activation) {
    case Activation::Silu:
        return x / (1 + std::exp(-x));
    case Activation::Gelu:
        return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::GeluTanh:
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::Relu:
        return std::max(x, 0.0);
    case Activation::Sigmoid:
        return 1 / (1 + std::exp(-x));
    }
    return 0;
}

class ActivationTest : public testing::OpTest {
protected:
    std::vector<double> plain(const at::Tensor& gateUp, Activation activation) const {
        const std::vector<double> x = toDoubles(gateUp);
        const auto width = static_cast<size_t>(gateUp.size(-1) / 2);
        std::vector<double> result;
        for (size_t row = 0; row < x.size(); row += 2 * width) {
            for (size_t i = 0; i < width; ++i)
                result.push_back(
                    rounded(rounded(plainActivation(x[row + i], activation)) * x[row + width + i]));
        }
        return result;
    }
};

TEST_P(ActivationTest, EqualsPlainReference) {
    for (const Activation activation : kActivations) {
        for (const int64_t width : {1, 17, 64, 1536}) {
            for (const int64_t rows : {1, 33}) {
                const at::Tensor gateUp = random({rows, 2 * width}, 2);
                expectClose(actAndMul(gateUp, activation), plain(gateUp, activation), 8);
            }
        }
    }
}

TEST_P(ActivationTest, TakesMoreRowsThanOneSideOfAGrid) {
    const at::Tensor gateUp = random({33000, 6}, 2);
    expectClose(actAndMul(gateUp, Activation::Silu), plain(gateUp, Activation::Silu), 8);
}

TEST_P(ActivationTest, TakesAnyStrides) {
    const at::Tensor gateUp = random({2, 5, 46});
    expectClose(actAndMul(testing::stridedCopy(gateUp), Activation::Silu), plain(gateUp, Activation::Silu),
                8);
    expectClose(actAndMul(testing::slicedCopy(gateUp), Activation::Silu), plain(gateUp, Activation::Silu), 8);
    const at::Tensor swapped = gateUp.transpose(0, 1);
    expectClose(actAndMul(swapped, Activation::Silu), plain(swapped, Activation::Silu), 8);
}

TEST_P(ActivationTest, SaturatesWithoutNaN) {
    const double far = dtype() == at::kHalf ? 200 : 2000;
    const at::Tensor gateUp = at::tensor({far, -far, 1.0, 1.0}, at::kDouble).to(random({1}).options());
    for (const Activation activation : kActivations) {
        const double high = activation == Activation::Sigmoid ? 1 : rounded(far);
        testing::expectEqual(actAndMul(gateUp, activation), {high, 0});
    }
}

TEST_P(ActivationTest, HandlesNoRows) {
    EXPECT_EQ(actAndMul(random({0, 8}), Activation::Silu).sizes(), (at::IntArrayRef{0, 4}));
}

TEST_P(ActivationTest, WritesIntoGivenOutput) {
    const at::Tensor gateUp = random({3, 20});
    at::Tensor output = random({3, 10});
    actAndMulInto(output, gateUp, Activation::Gelu);
    EXPECT_TRUE(at::equal(output, actAndMul(gateUp, Activation::Gelu)));
}

TEST_P(ActivationTest, RefusesWrongArguments) {
    expectRefused(
        [&] {
            actAndMul(random({3, 7}), Activation::Silu);
        },
        "workbench::act_and_mul: the last dimension of gate_up must be even");
    expectRefused(
        [&] {
            actAndMul(random({3, 8}).to(at::kInt), Activation::Silu);
        },
        "gate_up must be a floating-point tensor");
}

INSTANTIATE_TEST_SUITE_P(All, ActivationTest, ::testing::ValuesIn(testing::allPlaces()), testing::whereName);

} // namespace
} // namespace workbench::ops
