#include "runtime/ops/norm.h"
#include "tests/runtime/ops/emulated_cuda/emulator.h"
#include "tests/runtime/ops/emulated_cuda/probe.h"

#include <ATen/ATen.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace workbench::emulated_cuda {
namespace {

using probe::Barriers;

std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
}

TEST(EmulatedCuda, RunsTheKernelsOfTheOperators) {
    const int64_t before = launches();
    ops::rmsNorm(at::ones({2, 8}), std::nullopt, {});
    EXPECT_EQ(launches(), before + 1);
}

TEST(EmulatedCuda, RunsEachThreadOfEachBlockOnce) {
    for (const Sizes grid : {Sizes{1}, {5, 3, 2}, {1, 1, 7}})
        for (const Sizes block : {Sizes{1}, {33}, {4, 5, 3}, {1024}}) {
            const std::vector<int> counts = probe::countThreads(grid, block);
            EXPECT_TRUE(std::ranges::all_of(counts, [](int count) { return count == 1; }));
        }
}

TEST(EmulatedCuda, StartsBlocksWithAnyThread) {
    const std::vector<unsigned> first = probe::firstThreads(200, 8);
    EXPECT_EQ(std::set<unsigned>(first.begin(), first.end()), (std::set<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(EmulatedCuda, LetsThreadsSeeWhatOthersWroteBeforeABarrier) {
    EXPECT_EQ(probe::swapNeighbours(numbers(96), 4, Barriers::Both), numbers(96));
}

TEST(EmulatedCuda, ShowsAMissingBarrier) {
    for (const Barriers barriers : {Barriers::BeforeReading, Barriers::BeforeWriting, Barriers::None})
        EXPECT_NE(probe::swapNeighbours(numbers(96), 4, barriers), numbers(96));
}

TEST(EmulatedCuda, FillsSharedMemoryWithNan) {
    probe::swapNeighbours(numbers(64), 1, Barriers::Both); // leaves numbers there
    const std::vector<float> values = probe::swapNeighbours(numbers(64), 1, Barriers::None);
    EXPECT_TRUE(std::ranges::any_of(values, [](float value) { return std::isnan(value); }));
}

TEST(EmulatedCuda, CountsVotesAndExtremesOfABlock) {
    std::vector<long long> values(256);
    std::iota(values.begin(), values.end(), -100);
    const probe::Reductions found = probe::reduce(values, 7);
    EXPECT_EQ(found.least, -100);
    EXPECT_EQ(found.largest, 155);
    EXPECT_TRUE(found.any);
    EXPECT_FALSE(found.none);
    EXPECT_FALSE(probe::reduce(values, 1000).any);
}

TEST(EmulatedCuda, ExchangesValuesWithinWarps) {
    for (const int offset : {1, 2, 16, 31}) {
        const std::vector<double> values = probe::exchange(96, offset);
        for (unsigned thread = 0; thread < 96; ++thread)
            EXPECT_EQ(values[thread], thread ^ static_cast<unsigned>(offset));
    }
}

TEST(EmulatedCuda, ComparesAsCudaDoes) {
    EXPECT_EQ(probe::compareWithNan(), (std::vector<float>{1, 1, 1, 1}));
}

TEST(EmulatedCudaDeathTest, EndsWhereThreadsWaitForever) {
    EXPECT_DEATH(probe::waitAtTwoBarriers(), "twoBarriersKernel, block \\(0, 0, 0\\): threads wait at "
                                             "different barriers, .*probe.cu:[0-9]+ and .*probe.cu:[0-9]+");
    EXPECT_DEATH(probe::waitForAThreadThatEnded(),
                 "no thread can go on: 31 wait at .*probe.cu:[0-9]+, 0 elsewhere, and 1 of 32 have ended");
    EXPECT_DEATH(probe::exchangeInTwoPlaces(), "threads wait at different shuffles");
}

TEST(EmulatedCudaDeathTest, EndsAtShufflesOfAPartOfAWarp) {
    EXPECT_DEATH(probe::exchange(40, 1), "part of a warp, with mask 0xffffffff of 8 threads");
    EXPECT_DEATH(probe::exchange(32, 1, 0xffff), "part of a warp, with mask 0xffff of 32 threads");
    EXPECT_DEATH(probe::exchange(32, 32), "a shuffle flips 32 of a lane's five bits");
}

TEST(EmulatedCudaDeathTest, EndsPastTheSizesOfCuda) {
    EXPECT_DEATH(probe::firstThreads(0, 32), "a grid of 0 x 1 x 1 blocks is not between 1 and");
    EXPECT_DEATH(probe::countThreads({1, 65536}, {1}), "a grid of 1 x 65536 x 1 blocks is not between 1 and");
    EXPECT_DEATH(probe::firstThreads(1, 1025), "a block of 1025 x 1 x 1 threads is not between 1 and 1024");
    EXPECT_DEATH(probe::countThreads({1}, {1, 1, 65}), "a block of 1 x 1 x 65 threads");
}

TEST(EmulatedCudaDeathTest, EndsPastTheSharedMemoryThatAKernelMayHave) {
    probe::useDynamicBytes(49152, 0);
    EXPECT_DEATH(probe::useDynamicBytes(49153, 0), "49153 bytes of dynamic shared memory are more than the "
                                                   "49152 that the kernel may have");
    probe::useDynamicBytes(100000, 100000);
    EXPECT_DEATH(probe::useDynamicBytes(200000, 200000), "more than the 166912");
    probe::useStaticAndDynamicBytes(16384);
    EXPECT_DEATH(probe::useStaticAndDynamicBytes(16385), "32768 bytes of static and 16385 of dynamic shared");
}

} // namespace
} // namespace workbench::emulated_cuda
