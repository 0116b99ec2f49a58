#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace workbench {

/// Element types that a graph can carry.
/// Names in text form are the short ones ("f32", "bf16", "i64"); safetensors ("F32") and torch ("float32")
/// names are read by their own functions.
enum class ScalarType { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u8, boolean };

std::string_view name(ScalarType type);      ///< "bf16"
std::string_view torchName(ScalarType type); ///< "bfloat16"
std::size_t bytesPerElement(ScalarType type);
bool isFloatingPoint(ScalarType type);
std::optional<ScalarType> scalarTypeFromName(std::string_view name);      ///< "bf16"
std::optional<ScalarType> scalarTypeFromTorchName(std::string_view name); ///< "bfloat16"

} // namespace workbench
