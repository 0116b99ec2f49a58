#include "runtime/ops/weight_type.h"

#include "runtime/ops/quantised_panel.h"

namespace workbench::ops {

std::string_view nameOf(WeightFormat format) {
    return format == WeightFormat::int8 ? "int8" : format == WeightFormat::int4 ? "int4" : "stored";
}

std::optional<WeightFormat> weightFormatFromName(std::string_view name) {
    for (const WeightFormat format : {WeightFormat::stored, WeightFormat::int8, WeightFormat::int4})
        if (nameOf(format) == name)
            return format;
    return std::nullopt;
}

int64_t packedColumns(WeightType type, int64_t columns) {
    if (type.format == WeightFormat::int4)
        return int4Groups(columns) * kInt4Group;
    // Pairs of bfloat16 are taken together, and so are those of int8, which become such pairs.
    const bool pairs = type.format == WeightFormat::int8 || type.dtype == c10::ScalarType::BFloat16;
    return pairs ? (columns + 1) / 2 * 2 : columns;
}

int64_t panelBytes(WeightType type, int64_t columns) {
    const int64_t filled = packedColumns(type, columns);
    if (type.format == WeightFormat::int8)
        return kInt8ScaleBytes + filled * kPanelRows;
    if (type.format == WeightFormat::int4)
        return int4Groups(columns) * (kInt4ScaleBytes + kInt4GroupBytes);
    return filled * kPanelRows * static_cast<int64_t>(c10::elementSize(type.dtype));
}

int64_t packedBytes(WeightType type, int64_t rows, int64_t columns) {
    return (rows + kPanelRows - 1) / kPanelRows * panelBytes(type, columns);
}

int64_t weightBytes(WeightType type, int64_t rows, int64_t columns) {
    if (type.format == WeightFormat::int8)
        return rows * (columns + static_cast<int64_t>(sizeof(float)));
    if (type.format == WeightFormat::int4)
        return rows * ((columns + 1) / 2 + int4Groups(columns) * kInt4ScaleBytes / kPanelRows);
    return rows * columns * static_cast<int64_t>(c10::elementSize(type.dtype));
}

} // namespace workbench::ops
