#include "core/graph/scalar_type.h"

#include <array>

namespace workbench {
namespace {

struct TypeRow {
    ScalarType type;
    std::string_view name;
    std::string_view torchName;
    std::size_t bytes;
    bool floating;
};

constexpr std::array<TypeRow, 12> kTypes{{
    {ScalarType::f64, "f64", "float64", 8, true},
    {ScalarType::f32, "f32", "float32", 4, true},
    {ScalarType::f16, "f16", "float16", 2, true},
    {ScalarType::bf16, "bf16", "bfloat16", 2, true},
    {ScalarType::f8e4m3, "f8e4m3", "float8_e4m3fn", 1, true},
    {ScalarType::f8e5m2, "f8e5m2", "float8_e5m2", 1, true},
    {ScalarType::i64, "i64", "int64", 8, false},
    {ScalarType::i32, "i32", "int32", 4, false},
    {ScalarType::i16, "i16", "int16", 2, false},
    {ScalarType::i8, "i8", "int8", 1, false},
    {ScalarType::u8, "u8", "uint8", 1, false},
    {ScalarType::boolean, "bool", "bool", 1, false},
}};

const TypeRow& row(ScalarType type) {
    return kTypes.at(static_cast<std::size_t>(type));
}

} // namespace

std::string_view name(ScalarType type) {
    return row(type).name;
}
std::string_view torchName(ScalarType type) {
    return row(type).torchName;
}
std::size_t bytesPerElement(ScalarType type) {
    return row(type).bytes;
}
bool isFloatingPoint(ScalarType type) {
    return row(type).floating;
}

std::optional<ScalarType> scalarTypeFromName(std::string_view name) {
    for (const TypeRow& candidate : kTypes)
        if (candidate.name == name)
            return candidate.type;
    return std::nullopt;
}

std::optional<ScalarType> scalarTypeFromTorchName(std::string_view name) {
    for (const TypeRow& candidate : kTypes)
        if (candidate.torchName == name)
            return candidate.type;
    return std::nullopt;
}

} // namespace workbench
