// The weights of products as the CPU kernels read them: panels of 16 rows, interleaved into one stream.
//
//   float32   [rows / 16][columns][16]
//   bfloat16  [rows / 16][columns / 2][16][2]: one load is 16 rows' pairs, which the
//             bfloat16 dot product takes as they are and which a shift and a mask turn
//             into two times 16 float32
//   in fewer bits: see quantised_panel.h
//
// Rows and columns are filled up with zeros. A row product reads its weight from memory once, front to back;
// a product of many rows reuses a panel from the cache. One weight is a list of blocks, so that weights
// merged by rows (q, k and v) are those of the parts.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/weight_type.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace workbench::ops {

/// Whether weights of this dtype are packed: float32 and bfloat16.
bool canPack(c10::ScalarType dtype);

/// Whether weights in fewer bits are made of numbers of this dtype: plain floating-point ones.
bool canQuantise(c10::ScalarType dtype);

/// Packs plain rows (contiguous, [rows, columns], of `source`: type.dtype, or for weights in fewer bits any
/// that canQuantise()) to `panels`, of packedBytes(). False when they have a value that quantisePanel()
/// refuses; weights as stored have none.
[[nodiscard]] bool packRows(WeightType type, c10::ScalarType source, const void* plain, int64_t rows,
                            int64_t columns, void* panels);

/// A weight [rows, columns]. Copies share the memory.
class PackedWeight {
public:
    struct Block {
        std::shared_ptr<const void> panels;
        int64_t rows = 0;
    };

    PackedWeight(WeightType type, int64_t columns, std::vector<Block> blocks);
    /// A copy of a contiguous matrix on the CPU whose dtype can be packed. Of matrices [n, rows, columns]
    /// too: each is a block, so that the weight has n * rows rows.
    static PackedWeight of(const at::Tensor& plain, WeightFormat format = WeightFormat::stored);
    /// The same; nothing for values that the format cannot have (packRows).
    static std::optional<PackedWeight> tryOf(const at::Tensor& plain, WeightFormat format);
    /// The same for products of another dtype than the numbers are given in, which are not rounded to it
    /// before they become fewer bits.
    static std::optional<PackedWeight> tryOf(const at::Tensor& plain, WeightType type);
    /// `count` blocks of `rows` rows in one piece of memory, which `fill(block, panels)` writes, packed.
    static PackedWeight stacked(WeightType type, int64_t count, int64_t rows, int64_t columns,
                                const std::function<void(int64_t block, void* panels)>& fill);
    /// The rows of one after those of the other; of equal type and columns.
    static PackedWeight joined(const std::vector<PackedWeight>& parts);

    /// Of what products with it read and write.
    c10::ScalarType dtype() const { return m_type.dtype; }
    WeightType type() const { return m_type; }
    int64_t rows() const { return m_rows; }
    int64_t columns() const { return m_columns; }
    const std::vector<Block>& blocks() const { return m_blocks; }
    const std::vector<PanelBlock>& panelBlocks() const { return m_panelBlocks; }

    /// [rows, columns] of dtype(), plain.
    at::Tensor unpacked() const;
    /// Copies row `row` to `to`, of columns() elements of dtype().
    void copyRow(int64_t row, void* to) const;
    /// Copies all rows of a block to `to`, [rows, columns].
    void copyBlock(int64_t block, void* to) const;

private:
    WeightType m_type;
    int64_t m_rows = 0;
    int64_t m_columns = 0;
    std::vector<Block> m_blocks;
    std::vector<PanelBlock> m_panelBlocks;
};

} // namespace workbench::ops
