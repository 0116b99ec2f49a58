#include "core/graph/scalar_type.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

constexpr ScalarType kAll[] = {ScalarType::f64, ScalarType::f32,     ScalarType::f16,    ScalarType::bf16,
                               ScalarType::i64, ScalarType::i32,     ScalarType::i16,    ScalarType::i8,
                               ScalarType::u8,  ScalarType::boolean, ScalarType::f8e4m3, ScalarType::f8e5m2};

TEST(ScalarType, EveryTypeIsFoundByBothOfItsNames) {
    for (ScalarType type : kAll) {
        EXPECT_EQ(scalarTypeFromName(name(type)), type);
        EXPECT_EQ(scalarTypeFromTorchName(torchName(type)), type);
    }
}

TEST(ScalarType, NamesAndSizesAreTorchs) {
    EXPECT_EQ(torchName(ScalarType::bf16), "bfloat16");
    EXPECT_EQ(torchName(ScalarType::f8e4m3), "float8_e4m3fn");
    EXPECT_EQ(name(ScalarType::boolean), "bool");
    EXPECT_EQ(bytesPerElement(ScalarType::f16), 2U);
    EXPECT_EQ(bytesPerElement(ScalarType::i64), 8U);
    EXPECT_TRUE(isFloatingPoint(ScalarType::f8e5m2));
    EXPECT_FALSE(isFloatingPoint(ScalarType::u8));
}

TEST(ScalarType, UnknownNamesAreNoType) {
    EXPECT_FALSE(scalarTypeFromName("float32"));
    EXPECT_FALSE(scalarTypeFromTorchName("complex64"));
}

} // namespace
} // namespace workbench
