#include "runtime/ops/kernel_clock.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/moe.h"
#include "runtime/ops/norm.h"

#include <ATen/Functions.h>

#include <gtest/gtest.h>

namespace workbench::ops {
namespace {

TEST(KernelClock, TimesEachKernelByItselfAndChangesNoNumber) {
    const at::Tensor x = at::arange(64, at::kFloat).reshape({4, 16}).sin();
    const PackedWeight weight = PackedWeight::of(at::arange(512, at::kFloat).reshape({32, 16}).cos());
    const at::Tensor plain = linear(x, weight, std::nullopt);
    KernelTimes times;
    timeKernels(&times);
    const at::Tensor timed = linear(x, weight, std::nullopt);
    timeKernels(nullptr);
    EXPECT_TRUE(at::equal(plain, timed));
    EXPECT_GT(times.linear, 0);
    EXPECT_EQ(times.rmsNorm, 0);
    const double before = times.linear;
    linear(x, weight, std::nullopt);
    rmsNorm(x, std::nullopt, {});
    EXPECT_EQ(times.linear, before);
    EXPECT_EQ(times.rmsNorm, 0);
}

TEST(KernelClock, TimesARouterWithTheKernelsThatRunWithoutIt) {
    const at::Tensor logits = at::arange(64, at::kFloat).reshape({4, 16}).sin();
    const auto [weights, indices] = moeRoute(logits, {.topK = 3});
    KernelTimes times;
    timeKernels(&times);
    const auto [timedWeights, timedIndices] = moeRoute(logits, {.topK = 3});
    timeKernels(nullptr);
    EXPECT_TRUE(at::equal(weights, timedWeights));
    EXPECT_TRUE(at::equal(indices, timedIndices));
    EXPECT_GT(times.moeRoute, 0);
}

} // namespace
} // namespace workbench::ops
