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
@ @

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
