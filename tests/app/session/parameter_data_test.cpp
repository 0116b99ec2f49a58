#include "app/session/parameter_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace workbench {
namespace {

template <typename Value>
TensorBytes tensor(ScalarType dtype, std::vector<std::int64_t> shape, std::vector<Value> values) {
    TensorBytes made{dtype, std::move(shape), std::string(values.size() * sizeof(Value), '\0')};
    std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
}

template <typename Value>
std::vector<Value> valuesOf(const TensorBytes& tensor) {
    std::vector<Value> values(tensor.bytes.size() / sizeof(Value));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

TensorBytes f32(std::vector<std::int64_t> shape, std::vector<float> values) {
    return tensor<float>(ScalarType::f32, std::move(shape), std::move(values));
}

TEST(Concatenate, AlongTheFirstDimIsOneAfterTheOther) {
    const auto joined = concatenate({f32({1, 2}, {1, 2}), f32({2, 2}, {3, 4, 5, 6})}, 0);
    ASSERT_TRUE(joined.ok());
    EXPECT_EQ(joined->shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(valuesOf<float>(*joined), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Concatenate, AlongAnotherDimInterleavesTheRows) {
    const auto joined = concatenate({f32({2, 1}, {1, 2}), f32({2, 2}, {3, 4, 5, 6})}, 1);
    ASSERT_TRUE(joined.ok());
    EXPECT_EQ(joined->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(valuesOf<float>(*joined), (std::vector<float>{1, 3, 4, 2, 5, 6}));
}

TEST(Concatenate, PartsThatDoNotFitAreRefused) {
    EXPECT_FALSE(concatenate({f32({1, 2}, {1, 2}), f32({1, 3}, {3, 4, 5})}, 0).ok());
    EXPECT_FALSE(concatenate({f32({2}, {1, 2}), f32({1, 2}, {3, 4})}, 0).ok());
    EXPECT_FALSE(
        concatenate({f32({2}, {1, 2}), tensor<std::uint16_t>(ScalarType::bf16, {2}, {1, 2})}, 0).ok());
    EXPECT_FALSE(concatenate({f32({2}, {1, 2})}, 1).ok());
    EXPECT_FALSE(concatenate({}, 0).ok());
}

TEST(Convert, RoundsToTheNearestBf16WithTiesToEven) {
    // 1 + 2^-8 and 1 + 3 * 2^-8 lie halfway between two bf16 numbers.
    const auto narrow =
        convert(f32({5}, {1.0f, 1.00390625f, 1.01171875f, -2.5f, std::nanf("")}), ScalarType::bf16);
    ASSERT_TRUE(narrow.ok());
    const auto bits = valuesOf<std::uint16_t>(*narrow);
    EXPECT_EQ(bits[0], 0x3f80);
    EXPECT_EQ(bits[1], 0x3f80);
    EXPECT_EQ(bits[2], 0x3f82);
    EXPECT_EQ(bits[3], 0xc020);
    EXPECT_GT(bits[4] & 0x7fff, 0x7f80);
}

TEST(Convert, WidensBf16AndF16Exactly) {
    const auto wide =
        convert(tensor<std::uint16_t>(ScalarType::bf16, {2}, {0x3f80, 0xc020}), ScalarType::f32);
    ASSERT_TRUE(wide.ok());
    EXPECT_EQ(valuesOf<float>(*wide), (std::vector<float>{1.0f, -2.5f}));
    const auto half = convert(tensor<std::uint16_t>(ScalarType::f16, {4}, {0x3c00, 0xc100, 0x0001, 0x7c00}),
                              ScalarType::f32);
    ASSERT_TRUE(half.ok());
    EXPECT_EQ(valuesOf<float>(*half), (std::vector<float>{1.0f, -2.5f, std::ldexp(1.0f, -24), HUGE_VALF}));
}

TEST(Convert, RefusesWhatItCannotMean) {
    EXPECT_FALSE(convert(tensor<std::int64_t>(ScalarType::i64, {1}, {1}), ScalarType::f32).ok());
    EXPECT_FALSE(convert(f32({1}, {1}), ScalarType::i64).ok());
    EXPECT_TRUE(convert(tensor<std::int64_t>(ScalarType::i64, {1}, {1}), ScalarType::i64).ok());
}

} // namespace
} // namespace workbench
