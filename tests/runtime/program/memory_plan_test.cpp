#include "runtime/program/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace workbench {
namespace {

constexpr std::int64_t kAlignment = 64;

/// The bytes that are in use at the busiest step: no plan can need less.
std::int64_t busiest(const std::vector<Lifetime>& pieces) {
    std::int64_t most = 0;
    for (const Lifetime& at : pieces) {
        std::int64_t bytes = 0;
        for (const Lifetime& piece : pieces)
            if (piece.first <= at.first && at.first <= piece.last)
                bytes += (piece.bytes + kAlignment - 1) / kAlignment * kAlignment;
        most = std::max(most, bytes);
    }
    return most;
}

void expectNoneOverlaps(const std::vector<Lifetime>& pieces, const MemoryPlan& plan) {
    ASSERT_EQ(plan.offsets.size(), pieces.size());
    for (std::size_t a = 0; a < pieces.size(); ++a) {
        EXPECT_EQ(plan.offsets[a] % kAlignment, 0);
        EXPECT_GE(plan.offsets[a], 0);
        EXPECT_LE(plan.offsets[a] + pieces[a].bytes, plan.bytes);
        for (std::size_t b = 0; b < a; ++b) {
            const bool together = pieces[a].first <= pieces[b].last && pieces[b].first <= pieces[a].last;
            const bool apart = plan.offsets[a] + pieces[a].bytes <= plan.offsets[b] ||
                               plan.offsets[b] + pieces[b].bytes <= plan.offsets[a];
            EXPECT_TRUE(!together || apart || pieces[a].bytes == 0 || pieces[b].bytes == 0)
                << a << " and " << b;
        }
    }
}

TEST(MemoryPlan, OfNothingIsNothing) {
    EXPECT_EQ(planMemory({}, kAlignment).bytes, 0);
}

TEST(MemoryPlan, PiecesThatNeverMeetShareTheirMemory) {
    const std::vector<Lifetime> pieces{{1000, 0, 1}, {900, 2, 3}, {1000, 4, 4}};
    const MemoryPlan plan = planMemory(pieces, kAlignment);
    expectNoneOverlaps(pieces, plan);
    EXPECT_EQ(plan.bytes, 1024);
}

TEST(MemoryPlan, APieceThatIsReadAtTheStepThatWritesAnotherKeepsItsMemory) {
    const std::vector<Lifetime> pieces{{64, 0, 1}, {64, 1, 2}};
    const MemoryPlan plan = planMemory(pieces, kAlignment);
    expectNoneOverlaps(pieces, plan);
    EXPECT_EQ(plan.bytes, 128);
}

TEST(MemoryPlan, TheLayersOfAModelNeedTheMemoryOfOne) {
    std::vector<Lifetime> pieces;
    for (std::int32_t layer = 0; layer < 90; ++layer) { // normed, merged, attended, gate and up, activated
        const std::int32_t at = layer * 5;
        for (const std::int64_t bytes : {1152, 1920, 1152, 6144, 3072}) {
            const auto step = static_cast<std::int32_t>(at + (pieces.size() % 5));
            pieces.push_back({bytes, step, step + 1});
        }
    }
    const MemoryPlan plan = planMemory(pieces, kAlignment);
    expectNoneOverlaps(pieces, plan);
    EXPECT_EQ(plan.bytes, busiest(pieces));
}

TEST(MemoryPlan, RandomPiecesNeverOverlapAndNeedLittleMoreThanTheBusiestStep) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<Lifetime> pieces;
        for (int i = 0; i < 60; ++i) {
            const auto first = static_cast<std::int32_t>(random() % 40);
            pieces.push_back({static_cast<std::int64_t>(random() % 5000), first,
                              first + static_cast<std::int32_t>(random() % 6)});
        }
        const MemoryPlan plan = planMemory(pieces, kAlignment);
        expectNoneOverlaps(pieces, plan);
        EXPECT_LE(static_cast<double>(plan.bytes), 1.5 * static_cast<double>(busiest(pieces)));
    }
}

} // namespace
} // namespace workbench
