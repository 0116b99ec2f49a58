#include "runtime/engine/candidates.h"
#include "runtime/engine/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace workbench {
namespace {

std::vector<std::int64_t> tokensOf(const std::vector<Candidate>& candidates) {
    std::vector<std::int64_t> tokens;
    for (const Candidate& candidate : candidates)
        tokens.push_back(candidate.token);
    return tokens;
}

std::vector<std::int64_t> tokensLeft(const std::vector<float>& logits, const SamplingParams& params) {
    LogitBlocks blocks;
    blocks.lookAt(logits);
    auto tokens = tokensOf(candidates(blocks, params));
    std::ranges::sort(tokens);
    return tokens;
}

/// As many as a vocabulary has, in a few of which all the probability is, as a model has it.
std::vector<float> manyLogits(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    std::vector<float> logits(count);
    for (float& logit : logits)
        logit = std::round(8 * normal(random)) / 8; // with equal ones
    return logits;
}

TEST(Candidates, AreNeverNone) {
    const std::vector<float> equal(100, 1.0F);
    EXPECT_EQ(tokensLeft(equal, {.temperature = 1, .topP = 0}).size(), 1U);
    EXPECT_EQ(tokensLeft(equal, {.temperature = 1, .minP = 1}).size(), 100U);
    EXPECT_EQ(tokensLeft({0, 90, 3}, {.temperature = 1e-9}), (std::vector<std::int64_t>{1}));
}

TEST(Candidates, OfATopPAreTheMostProbableTokensThatReachIt) {
    EXPECT_EQ(tokensLeft({1, 4, 3, 2, 0}, {.temperature = 1, .topP = 0.95}),
              (std::vector<std::int64_t>{1, 2, 3}));
}

/// The definition: all tokens sorted, running sums, filters one after the other.
std::vector<std::int64_t> sortedAndSummed(const std::vector<float>& logits, const SamplingParams& params) {
    std::vector<std::int64_t> order(logits.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<std::int64_t>(i);
    const auto logit = [&](std::int64_t token) { return logits[static_cast<std::size_t>(token)]; };
    std::ranges::stable_sort(order, std::greater(), logit);
    if (params.topK > 0 && params.topK < std::ssize(order)) {
        const float least = logit(order[static_cast<std::size_t>(params.topK) - 1]);
        std::erase_if(order, [&](std::int64_t token) { return logit(token) < least; });
    }
    std::vector<double> weights;
    double total = 0;
    for (const std::int64_t token : order) {
        weights.push_back(std::exp((double{logit(token)} - logit(order[0])) / params.temperature));
        total += weights.back();
    }
    std::vector<std::int64_t> left;
    double before = 0;
    for (std::size_t i = 0; i < order.size() && (i == 0 || params.topP >= 1 || before < params.topP * total);
         ++i) {
        before += weights[i];
        if (weights[i] >= params.minP)
            left.push_back(order[i]);
    }
    std::ranges::sort(left);
    return left;
}

TEST(Candidates, OfManyLogitsAreThoseOfTheDefinition) {
    constexpr double kRounding = 1e-6; // of the sum of all weights
    unsigned seed = 0;
    for (const std::size_t count : {127UL, 128UL, 1000UL, 49152UL})
        for (const double temperature : {0.3, 1.0, 3.0})
            for (const std::int64_t topK : {0, 1, 40, 900})
                for (const double topP : {0.1, 0.9, 0.99999, 1.0})
                    for (const double minP : {0.0, 1e-5, 0.2}) {
                        const auto logits = manyLogits(count, ++seed);
                        const SamplingParams params{
                            .temperature = temperature, .topK = topK, .topP = topP, .minP = minP};
                        SamplingParams fewer = params, more = params;
                        fewer.topP -= topP < 1 ? kRounding : 0;
                        more.topP += topP < 1 ? kRounding : 0;
                        const auto left = tokensLeft(logits, params);
                        ASSERT_TRUE(std::ranges::includes(left, sortedAndSummed(logits, fewer)) &&
                                    std::ranges::includes(sortedAndSummed(logits, more), left))
                            << count << " logits, temperature " << temperature << ", top-k " << topK
                            << ", top-p " << topP << ", min-p " << minP;
                    }
}

TEST(Draw, FollowsTheSharesOfAllTokensInTheirOrder) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const std::size_t count : {1UL, 5UL, 128UL, 129UL, 5000UL})
        for (const double temperature : {0.7, 1.0, 5.0}) {
            auto logits = manyLogits(count, static_cast<unsigned>(count));
            if (count > 200) // whole blocks that are ruled out, the first one, too
                std::fill_n(logits.begin(), 200, -std::numeric_limits<float>::infinity());
            LogitBlocks blocks;
            blocks.lookAt(logits);
            double total = 0;
            std::vector<double> upTo;
            for (const float logit : logits)
                upTo.push_back(total += std::exp((double{logit} - blocks.largest()) / temperature));
            const auto drawn = [&](double at) {
                return static_cast<std::size_t>(draw(blocks, {.temperature = temperature}, at));
            };
            constexpr double kRounding = 1e-6;
            for (int i = 0; i < 200; ++i) {
                const double at = uniform(random);
                const std::size_t token = drawn(at);
                EXPECT_LE(at, upTo[token] / total + kRounding);
                EXPECT_GE(at, (token == 0 ? 0 : upTo[token - 1] / total) - kRounding);
            }
            EXPECT_TRUE(std::isfinite(logits[drawn(0)])) << count;
            EXPECT_TRUE(std::isfinite(logits[drawn(1 - 0x1p-53)])) << count;
        }
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
