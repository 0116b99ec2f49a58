#include "runtime/benchmark/agreement.h"
#include "tests/runtime/engine/fake_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace workbench::benchmark {
namespace {

using workbench::testing::FakeModel;

BlockLayout layoutOf(std::int64_t blocks) {
    return {.blockTokens = 4, .blocks = blocks};
}

/// Another model in its logits alone.
class Shifted : public ModelRunner {
public:
    explicit Shifted(float by) : m_inner(layoutOf(32)), m_by(by) {}
    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override {
        auto logits = m_inner.run(plan, abort);
        m_logits.assign(logits->begin(), logits->end());
        for (float& logit : m_logits)
            logit = -m_by * logit;
        return std::span<const float>(m_logits);
    }
    std::int64_t vocabulary() const override { return m_inner.vocabulary(); }

private:
    FakeModel m_inner;
    float m_by;
    std::vector<float> m_logits;
};

TEST(Agreement, OfAModelWithItselfIsWhole) {
    FakeModel a(layoutOf(32));
    FakeModel b(layoutOf(32));
    const auto found = compareModels(a, b, layoutOf(32));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->relativeError, 0);
    EXPECT_EQ(found->tokens, 16);
    EXPECT_EQ(found->equal, 16);
}

TEST(Agreement, SeesOtherNumbersAndOtherText) {
    FakeModel a(layoutOf(32));
    Shifted b(1);
    const auto found = compareModels(a, b, layoutOf(32));
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->relativeError, 2);
    EXPECT_EQ(found->equal, 0);
}

TEST(Agreement, OfNumbersWithoutEndIsNone) {
    FakeModel a(layoutOf(32));
    Shifted b(std::numeric_limits<float>::infinity());
    const auto found = compareModels(b, a, layoutOf(32));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->relativeError, HUGE_VAL);
}

TEST(Agreement, NeedsRoomForItsTokens) {
    FakeModel a(layoutOf(9));
    FakeModel b(layoutOf(9));
    EXPECT_FALSE(compareModels(a, b, layoutOf(9)));
}

} // namespace
} // namespace workbench::benchmark
