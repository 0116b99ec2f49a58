#include "runtime/engine/logit_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace workbench {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

std::vector<float> randomLogits(std::size_t count) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<float> logits(count);
    for (float& logit : logits)
        logit = static_cast<float>(random() % 300) / 10; // with equal ones
    return logits;
}

TEST(SumWeights, EqualSumsInDoublePrecisionWithEveryWidth) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (const float spread : {0.F, 1e-3F, 1.F, 30.F, 1e4F, 3e38F})
        for (const float scale : {0.01F, 1.F, 1.4426950F, 1e30F}) {
            std::vector<float> logits(kBlockLogits);
            for (float& logit : logits)
                logit = spread * std::clamp(normal(random), -1.F, 1.F);
            logits[7] = kNothing;
            const float largest = *std::ranges::max_element(logits);
            double sum = 0;
            for (const float logit : logits)
                sum += std::exp2((double{logit} - largest) * scale);
            for (const SumWeights version : sumWeights())
                EXPECT_NEAR(version(logits.data(), largest, scale, kLeastPower) / sum, 1, 1e-6)
                    << spread << ' ' << scale;
        }
    EXPECT_GE(sumWeights().size(), 1U);
}

TEST(SumWeights, AreNothingOfABlockThatIsRuledOut) {
    const std::vector<float> logits(kBlockLogits, kNothing);
    const std::vector<float> far(kBlockLogits, -200.F);
    for (const SumWeights version : sumWeights()) {
        EXPECT_EQ(version(logits.data(), 3, 1, kLeastPower), 0);
        EXPECT_EQ(version(far.data(), 3, 1, kLeastPower), 0);
    }
}

TEST(LogitBlocks, FindTheKthLargestWhereverItIs) {
    for (const std::size_t count : {1UL, 3UL, 127UL, 128UL, 129UL, 5000UL}) {
        const auto logits = randomLogits(count);
        auto sorted = logits;
        std::ranges::sort(sorted, std::greater{});
        LogitBlocks blocks;
        blocks.lookAt(logits);
        for (std::size_t k = 1; k <= count; k = k < 50 ? k + 1 : 2 * k) {
            EXPECT_EQ(blocks.kthLargest(k), sorted[k - 1]) << k << " of " << count;
            EXPECT_LE(blocks.boundOfKthLargest(k), sorted[k - 1]) << k << " of " << count;
        }
    }
}

TEST(LogitBlocks, VisitTheTokensFromALogitOnInTheirOrder) {
    const auto logits = randomLogits(1000);
    LogitBlocks blocks;
    blocks.lookAt(logits);
    for (const float least : {kNothing, 0.F, 17.F, 29.9F, 31.F}) {
        std::vector<std::int64_t> expected, visited;
        for (std::size_t token = 0; token < logits.size(); ++token)
            if (logits[token] >= least)
                expected.push_back(static_cast<std::int64_t>(token));
        blocks.forEachFrom(least, [&](std::int64_t token, float logit) {
            EXPECT_EQ(logit, logits[static_cast<std::size_t>(token)]);
            visited.push_back(token);
        });
        EXPECT_EQ(visited, expected);
    }
}

TEST(LogitBlocks, SumTheWeightsOfAllTokensAndOfEachBlock) {
    for (const std::size_t count : {1UL, 127UL, 128UL, 300UL, 49152UL})
        for (const double temperature : {1e-300, 0.1, 1.0, 50.0}) {
            const auto logits = randomLogits(count);
            LogitBlocks blocks;
            blocks.lookAt(logits);
            double sum = 0;
            for (const float logit : logits)
                sum += std::exp((double{logit} - blocks.largest()) / temperature);
            std::vector<float> byBlock;
            EXPECT_NEAR(blocks.sumOfWeights(temperature, 0, &byBlock) / sum, 1, 1e-6);
            double ofBlocks = 0;
            for (const float of : byBlock)
                ofBlocks += of;
            EXPECT_NEAR(ofBlocks / sum, 1, 1e-6);
            EXPECT_EQ(byBlock.size(), (count + kBlockLogits - 1) / kBlockLogits);
        }
}

TEST(LogitBlocks, SumTheWeightsOfTokensWithAShareOfTheLargest) {
    const auto logits = randomLogits(5000);
    LogitBlocks blocks;
    blocks.lookAt(logits);
    for (const double temperature : {0.1, 1.0, 50.0})
        for (const double share : {0.987, 0.1234, 1e-3, 1e-12, 1e-50}) {
            double sum = 0;
            for (const float logit : logits)
                if (const double weight = std::exp((double{logit} - blocks.largest()) / temperature);
                    weight >= share)
                    sum += weight;
            EXPECT_NEAR(blocks.sumOfWeights(temperature, share) / sum, 1, 1e-6)
                << temperature << ' ' << share;
        }
}

} // namespace
} // namespace workbench
