#include "app/session/quality_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace workbench {
namespace {

Logits logitsOf(std::int64_t rows, const std::vector<float>& values) {
    Logits logits{rows, static_cast<std::int64_t>(values.size()) / rows, {}};
    logits.bytes.resize(values.size() * sizeof(float));
    std::memcpy(logits.bytes.data(), values.data(), logits.bytes.size());
    return logits;
}

/// ln of probabilities: a softmax gives them back.
float ln(double probability) {
    return static_cast<float>(std::log(probability));
}

TEST(QualityLoss, IsNothingForEqualLogits) {
    const Logits logits = logitsOf(2, {1, 2, 3, 3, 1, 2});
    const auto loss = qualityLoss(logits, logits, {});
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->rows, 2);
    EXPECT_EQ(loss->relativeError, 0);
    EXPECT_NEAR(loss->divergence, 0, 1e-12);
    EXPECT_EQ(loss->greedyEqual, 2);
    EXPECT_FALSE(loss->text);
}

TEST(QualityLoss, FollowsItsFormulas) {
    // Two rows over two tokens: (1/2, 1/2) against (1/4, 3/4), and (3/4, 1/4) against itself, shifted.
    const Logits stored = logitsOf(2, {ln(0.5), ln(0.5), ln(0.75), ln(0.25)});
    const Logits quantised = logitsOf(2, {ln(0.25), ln(0.75), ln(0.75) + 100, ln(0.25) + 100});
    const auto loss = qualityLoss(stored, quantised, {1, 0});
    ASSERT_TRUE(loss);
    // 1/2 ln(2) + 1/2 ln(2/3), halved over the two rows.
    EXPECT_NEAR(loss->divergence, 0.25 * (std::log(2.0) + std::log(2.0 / 3)), 1e-5);
    EXPECT_EQ(loss->greedyEqual, 1); // the first of equal logits counts
    ASSERT_TRUE(loss->text);
    EXPECT_EQ(loss->text->tokens, 2);
    EXPECT_NEAR(loss->text->stored, -0.5 * (std::log(0.5) + std::log(0.75)), 1e-5);
    EXPECT_NEAR(loss->text->quantised, -0.5 * (std::log(0.75) + std::log(0.75)), 1e-5);
    const double error = std::pow(std::log(0.5), 2) + std::pow(std::log(1.5), 2) + 2 * 100.0 * 100.0;
    const double size =
        2 * std::pow(std::log(0.5), 2) + std::pow(std::log(0.75), 2) + std::pow(std::log(0.25), 2);
    EXPECT_NEAR(loss->relativeError, std::sqrt(error / size), 1e-3);
}

TEST(QualityLoss, LeavesRowsThatNothingFollowsOutOfTheLikelihood) {
    const Logits logits = logitsOf(2, {ln(0.5), ln(0.5), ln(0.75), ln(0.25)});
    const auto loss = qualityLoss(logits, logits, {std::nullopt, 1});
    ASSERT_TRUE(loss && loss->text);
    EXPECT_EQ(loss->text->tokens, 1);
    EXPECT_NEAR(loss->text->stored, -std::log(0.25), 1e-5);
}

TEST(QualityLoss, TakesLargeLogitsAndRefusesWhatIsNotFinite) {
    const Logits large = logitsOf(1, {3000, 2999});
    const auto loss = qualityLoss(large, large, {0});
    ASSERT_TRUE(loss && loss->text);
    EXPECT_NEAR(loss->text->stored, std::log1p(std::exp(-1)), 1e-6);
    const Logits broken = logitsOf(1, {std::numeric_limits<float>::quiet_NaN(), 1});
    const auto refused = qualityLoss(large, broken, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("infinite or not a number"), std::string::npos);
    EXPECT_FALSE(qualityLoss(large, logitsOf(1, {1, 2, 3}), {}));
}

TEST(QualityLoss, LeavesMaskedLogitsOutOfEverySum) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Logits stored = logitsOf(2, {ln(0.5), ln(0.5), ln(0.75), ln(0.25)});
    const Logits quantised = logitsOf(2, {ln(0.25), ln(0.75), ln(0.75), ln(0.25)});
    const auto plain = qualityLoss(stored, quantised, {1, 0});
    ASSERT_TRUE(plain && plain->text);
    // The least float32 and bfloat16, as masks are written, and minus infinity; each side may have its own.
    for (const float mask : {-kInfinity, std::numeric_limits<float>::lowest(), -0x1.fep127f}) {
        const Logits masked = logitsOf(2, {ln(0.5), mask, ln(0.5), ln(0.75), mask, ln(0.25)});
        const Logits other = logitsOf(2, {ln(0.25), -kInfinity, ln(0.75), ln(0.75), -kInfinity, ln(0.25)});
        const auto loss = qualityLoss(masked, other, {2, 0});
        ASSERT_TRUE(loss && loss->text) << mask;
        EXPECT_EQ(loss->relativeError, plain->relativeError);
        EXPECT_EQ(loss->divergence, plain->divergence);
        EXPECT_EQ(loss->greedyEqual, plain->greedyEqual);
        EXPECT_EQ(loss->text->stored, plain->text->stored);
        EXPECT_EQ(loss->text->quantised, plain->text->quantised);
    }
}

TEST(QualityLoss, GivesATokenThatIsMaskedNoLikelihood) {
    const float mask = -std::numeric_limits<float>::infinity();
    const Logits logits = logitsOf(2, {ln(0.5), mask, ln(0.5), ln(0.75), mask, ln(0.25)});
    const auto loss = qualityLoss(logits, logits, {1, 2});
    ASSERT_TRUE(loss && loss->text);
    EXPECT_EQ(loss->text->tokens, 1);
    EXPECT_NEAR(loss->text->stored, -std::log(0.25), 1e-5);
}

TEST(QualityLoss, RefusesAMaskThatOneSideHasAlone) {
    const float mask = std::numeric_limits<float>::lowest();
    const Logits masked = logitsOf(1, {1, mask, 2}), open = logitsOf(1, {1, 0, 2});
    for (const auto& [stored, quantised] : {std::pair(masked, open), std::pair(open, masked)}) {
        const auto loss = qualityLoss(stored, quantised, {});
        ASSERT_FALSE(loss);
        EXPECT_NE(loss.error().message.find("masked with one kind"), std::string::npos);
    }
    const Logits all = logitsOf(1, {mask, mask, mask});
    EXPECT_TRUE(qualityLoss(all, all, {}));
    const float infinity = std::numeric_limits<float>::infinity();
    const Logits none = logitsOf(1, {-infinity, -infinity, -infinity});
    EXPECT_TRUE(qualityLoss(none, none, {})); // nothing to compare, and nothing that differs
    EXPECT_FALSE(qualityLoss(logitsOf(1, {1, infinity, 2}), logitsOf(1, {1, infinity, 2}), {}));
}

} // namespace
} // namespace workbench
