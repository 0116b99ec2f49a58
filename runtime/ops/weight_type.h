// What the numbers of a packed weight are, and how much memory panels of them take.
#pragma once

#include "runtime/ops/op_types.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace workbench::ops {

inline constexpr int64_t kPanelRows = 16;

struct WeightType {
    WeightType(c10::ScalarType of, WeightFormat as = WeightFormat::stored) // NOLINT: most are as stored
        : dtype(of), format(as) {}

    c10::ScalarType dtype; ///< of the matrix, and of what products read and write: float32 or bfloat16
    WeightFormat format;

    friend bool operator==(const WeightType& a, const WeightType& b) {
        return a.dtype == b.dtype && a.format == b.format;
    }
};

/// "stored", "int8", "int4".
std::string_view nameOf(WeightFormat format);
std::optional<WeightFormat> weightFormatFromName(std::string_view name);

/// Columns with what fills them up.
int64_t packedColumns(WeightType type, int64_t columns);
/// Of one panel.
int64_t panelBytes(WeightType type, int64_t columns);
/// Of all panels of a matrix.
int64_t packedBytes(WeightType type, int64_t rows, int64_t columns);
/// Of the matrix, without what fills rows and columns up.
int64_t weightBytes(WeightType type, int64_t rows, int64_t columns);

} // namespace workbench::ops
