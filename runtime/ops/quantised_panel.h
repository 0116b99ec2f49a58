// Weights in fewer bits than the checkpoint has; activations and sums stay as they are. Symmetric, so that
// zero stays zero (products with int4 need sums of their inputs all the same, since q + 8 is what it keeps):
//
//   int8   one scale for each row, max |w| / 127 in float32; w = scale * q, q = w / scale rounded to nearest
//          even, at most 127 either way. A panel is [16] scales, then [columns][16] q.
//   int4   one scale for each row and group of 32 columns, the group's largest w by magnitude / -8 in
//          bfloat16 (so that one of 16 values is not left unused; it may be negative); w = scale * q, which
//          float32 has exactly, q = w / scale rounded to nearest even and kept within -8 to 7. A panel is
//          [groups][16] scales, then [columns / 8][16] cells of 32 bits: a row's q + 8 of 8 columns.
//
// A row of zeros has the scale 0, and so does one whose scale is too small for its type: its weights are 0.
#pragma once

#include "runtime/ops/weight_type.h"

namespace workbench::ops {

inline constexpr int64_t kInt8ScaleBytes = kPanelRows * static_cast<int64_t>(sizeof(float));

inline constexpr int64_t kInt4Group = 32;                  ///< columns that share a scale
inline constexpr int64_t kInt4Cell = 8;                    ///< columns that share 32 bits
inline constexpr int64_t kInt4ScaleBytes = kPanelRows * 2; ///< of a group, in bfloat16
inline constexpr int64_t kInt4CellBytes = kPanelRows * 4;
inline constexpr int64_t kInt4GroupBytes = kInt4Group / kInt4Cell * kInt4CellBytes;

constexpr int64_t int4Groups(int64_t columns) {
    return (columns + kInt4Group - 1) / kInt4Group;
}
/// Which of a cell's groups of 4 bits, from the lowest on, belongs to column `column` (0 to 7): of a pair of
/// columns the first is in the lower half and the second at the same place in the upper one.
constexpr int int4Place(int column) {
    return column % 2 * 4 + column / 2;
}

/// The largest magnitude that is quantised, 2^120: far beyond any weight, and sums of a few products with
/// it are still finite.
inline constexpr float kLargestQuantised = 0x1p120f;

/// Packs the first `rows` (at most 16) of plain rows [rows, columns] of `source`, for which canQuantise() is
/// true, to a panel of `format`, which is the same whatever dtype products have. False when a number is none,
/// infinite or above kLargestQuantised; the panel is then unspecified.
bool quantisePanel(WeightFormat format, c10::ScalarType source, const void* plain, int64_t rows,
                   int64_t columns, void* panel);

/// Row `row` (0 to 15) of a panel, rounded to type.dtype.
void dequantiseRow(WeightType type, const void* panel, int64_t row, int64_t columns, void* to);
/// The first `rows` (at most 16) rows of a panel, [rows, columns], with the same numbers, in less time.
void dequantisePanel(WeightType type, const void* panel, int64_t rows, int64_t columns, void* to);

} // namespace workbench::ops
