#pragma once

#include "core/graph/scalar_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Codes and names of torch.export's archive schema (torch/_export/serde/schema.py, version 8).

namespace workbench::pt2 {

inline constexpr std::int64_t kSchemaMajor = 8;

std::optional<ScalarType> scalarType(std::int64_t code);
std::int64_t code(ScalarType type);
/// "layout 3", "complex64": what an error says about a code that has no ScalarType.
std::string scalarTypeText(std::int64_t code);

std::optional<std::string_view> layoutName(std::int64_t code); ///< "strided"
std::optional<std::int64_t> layoutCode(std::string_view name);
std::optional<std::string_view> memoryFormatName(std::int64_t code); ///< "contiguous_format"
std::optional<std::int64_t> memoryFormatCode(std::string_view name);

/// "torch.ops.aten.add.Tensor" -> "aten.add.Tensor"; "torch.ops.workbench.attention.default" ->
/// "workbench.attention" (our own ops have one overload each). nullopt for targets that are not operators of
/// the dispatcher.
std::optional<std::string> opFromTarget(std::string_view target);
std::string targetFromOp(std::string_view op);

/// Ops whose schema returns Tensor[] rather than a tuple.
bool returnsList(std::string_view op);

} // namespace workbench::pt2
