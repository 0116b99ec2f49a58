#include "runtime/engine/candidates.h"
#include "runtime/engine/philox.h"

#include <gtest/gtest.h>

#include <numeric>

namespace workbench {
namespace {

std::vector<std::int64_t> tokensOf(const std::vector<Candidate>& candidates) {
    std::vector<std::int64_t> tokens;
    for (const Candidate& candidate : candidates)
        tokens.push_back(candidate.token);
    return tokens;
}

TEST(Candidates, AreNeverNone) {
    const std::vector<float> equal(100, 1.0F);
    EXPECT_EQ(candidates(equal, {.temperature = 1, .topP = 0}).size(), 1U);
    EXPECT_EQ(candidates(equal, {.temperature = 1, .minP = 1}).size(), 100U);
    EXPECT_EQ(tokensOf(candidates(std::vector<float>{0, 90, 3}, {.temperature = 1e-9})),
              (std::vector<std::int64_t>{1}));
}

TEST(Candidates, OfATopPAreOrderedByProbability) {
    EXPECT_EQ(tokensOf(candidates(std::vector<float>{1, 4, 3, 2, 0}, {.temperature = 1, .topP = 0.95})),
              (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Pick, GivesEachCandidateItsShare) {
    const std::vector<Candidate> three{{7, 1}, {8, 2}, {9, 1}};
    EXPECT_EQ(pick(three, 0), 7);
    EXPECT_EQ(pick(three, 0.2499), 7);
    EXPECT_EQ(pick(three, 0.25), 8);
    EXPECT_EQ(pick(three, 0.7499), 8);
    EXPECT_EQ(pick(three, 0.75), 9);
    EXPECT_EQ(pick(three, 1), 9); // beyond what it is asked for, but never out of bounds
}

// The vectors of Random123, file kat_vectors, lines "philox4x32 10".
TEST(Philox, GivesThePublishedNumbers) {
    using Four = std::array<std::uint32_t, 4>;
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
              (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

} // namespace
} // namespace workbench
