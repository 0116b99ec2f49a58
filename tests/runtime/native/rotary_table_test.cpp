#include "runtime/native/rotary_table.h"
#include "tests/runtime/program/support.h"

#include <cmath>

namespace workbench::test {
namespace {

using native::RotaryConfig;
using native::RotaryTable;

void expectFrequencies(const RotaryConfig& config, const std::vector<float>& expected) {
    const auto found = toVector(native::rotaryFrequencies(config, 12));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-6F * expected[i]) << i;
}

// Expected values: inv_freq of transformers 5.24's LlamaRotaryEmbedding with these parameters, head width 12.
TEST(RotaryTable, FrequenciesAreThoseOfTransformers) {
    expectFrequencies({.theta = 100000},
                      {1, 0.146779925F, 0.0215443447F, 0.00316227786F, 0.000464158744F, 6.81292222e-05F});
}

TEST(RotaryTable, LinearScalingStretchesAllOfThem) {
    expectFrequencies({.theta = 10000, .scaling = RotaryConfig::Scaling::linear, .factor = 4},
                      {0.25F, 0.0538608618F, 0.011603971F, 0.00249999994F, 0.000538608583F, 0.000116039737F});
}

// Of these one is kept, one lies between, the others are stretched.
TEST(RotaryTable, Llama3StretchesTheSlowOnes) {
    expectFrequencies({.theta = 500000,
                       .scaling = RotaryConfig::Scaling::llama3,
                       .factor = 8,
                       .lowFrequencyFactor = 1,
                       .highFrequencyFactor = 4,
                       .originalTokens = 64},
                      {1, 0.0187231898F, 0.00157490105F, 0.000176776681F, 1.98425078e-05F, 2.22724748e-06F});
}

TEST(RotaryTable, GathersTheRowsOfPositionsHoweverFar) {
    RotaryTable table({.theta = 100}, 4, at::kFloat);
    const std::vector<std::int64_t> positions{2, 5000, 0};
    std::vector<float> cos(12);
    std::vector<float> sin(12);
    table.gather(positions, cos.data(), sin.data());
    EXPECT_NEAR(cos[0], std::cos(2.0), 1e-6);
    EXPECT_NEAR(cos[1], std::cos(0.2), 1e-6);
    EXPECT_NEAR(cos[2], std::cos(2.0), 1e-6);
    EXPECT_NEAR(sin[4], std::sin(5000.0), 1e-5);
    EXPECT_NEAR(sin[5], std::sin(500.0), 1e-4); // 5000 times a rounded 0.1
    EXPECT_EQ(cos[8], 1);
    EXPECT_EQ(sin[8], 0);
}

} // namespace
} // namespace workbench::test
