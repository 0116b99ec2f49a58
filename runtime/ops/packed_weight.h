// The weights of products as the CPU kernels read them: panels of 16 rows, interleaved into one stream.
//
//   float32   [rows / 16][columns][16]
//   bfloat16  [rows / 16][columns / 2][16][2]: one load is 16 rows' pairs, which the
//             bfloat16 dot product takes as they are and which a shift and a mask turn
//             into two times 16 float32
//
// Rows and columns are filled up with zeros. A row product reads its weight from memory once, front to back;
// a product of many rows reuses a panel from the cache. One weight is a list of blocks, so that weights
// merged by rows (q, k and v) are those of the parts.
#pragma once

#include "runtime/ops/kernels.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace workbench::ops {

inline constexpr int64_t kPanelRows = 16;

/// Whether weights of this dtype are packed: float32 and bfloat16.
bool canPack(c10::ScalarType dtype);

/// Columns with what fills them up.
int64_t packedColumns(c10::ScalarType dtype, int64_t columns);
int64_t packedBytes(c10::ScalarType dtype, int64_t rows, int64_t columns);

/// Packs plain rows (contiguous, [rows, columns]) to `panels`, of packedBytes().
void packRows(c10::ScalarType dtype, const void* plain, int64_t rows, int64_t columns, void* panels);

/// A weight [rows, columns]. Copies share the memory.
class PackedWeight {
public:
    struct Block {
        std::shared_ptr<const void> panels;
        int64_t rows = 0;
    };

    PackedWeight(c10::ScalarType dtype, int64_t columns, std::vector<Block> blocks);
    /// A copy of a contiguous matrix on the CPU whose dtype can be packed. Of matrices [n, rows, columns]
    /// too: each is a block, so that the weight has n * rows rows.
    static PackedWeight of(const at::Tensor& plain);
    /// `count` blocks of `rows` rows in one piece of memory, which `fill(block, panels)` writes, packed.
    static PackedWeight stacked(c10::ScalarType dtype, int64_t count, int64_t rows, int64_t columns,
                                const std::function<void(int64_t block, void* panels)>& fill);
    /// The rows of one after those of the other; of equal dtype and columns.
    static PackedWeight joined(const std::vector<PackedWeight>& parts);

    c10::ScalarType dtype() const { return m_dtype; }
    int64_t rows() const { return m_rows; }
    int64_t columns() const { return m_columns; }
    const std::vector<Block>& blocks() const { return m_blocks; }
    const std::vector<PanelBlock>& panelBlocks() const { return m_panelBlocks; }

    /// [rows, columns], plain.
    at::Tensor unpacked() const;
    /// Copies row `row` to `to`, of columns() elements.
    void copyRow(int64_t row, void* to) const;
    /// Copies all rows of a block to `to`, [rows, columns].
    void copyBlock(int64_t block, void* to) const;

private:
    c10::ScalarType m_dtype;
    int64_t m_rows = 0;
    int64_t m_columns = 0;
    std::vector<Block> m_blocks;
    std::vector<PanelBlock> m_panelBlocks;
};

} // namespace workbench::ops
