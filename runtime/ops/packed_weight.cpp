#include "runtime/ops/packed_weight.h"

#include "runtime/ops/panel_memory.h"
#include "runtime/ops/quantised_panel.h"
#include "runtime/ops/thread_pool.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace workbench::ops {
namespace {

/// The smallest run of a row that stays together: one float32, or a pair of bfloat16. Four bytes either way.
using Cell = uint32_t;

int64_t cellsPerRow(c10::ScalarType dtype, int64_t columns) {
    return dtype == c10::ScalarType::Float ? columns : (columns + 1) / 2;
}

/// `bytes` of the row that starts at `row`, from its cell `cell` on; the last one may be half a cell.
Cell loadCell(const std::byte* row, int64_t cell, int64_t rowBytes) {
    Cell value = 0;
    const int64_t offset = cell * static_cast<int64_t>(sizeof(Cell));
    std::memcpy(&value, row + offset,
                static_cast<size_t>(std::min<int64_t>(sizeof(Cell), rowBytes - offset)));
    return value;
}

void packPanel(const std::byte* plain, int64_t rows, int64_t rowBytes, int64_t cells, Cell* panel) {
    const int64_t whole = rowBytes / static_cast<int64_t>(sizeof(Cell));
    if (rows < kPanelRows || whole < cells)
        std::memset(panel, 0, static_cast<size_t>(cells * kPanelRows) * sizeof(Cell));
    for (int64_t cell = 0; cell < whole; ++cell)
        for (int64_t row = 0; row < rows; ++row)
            std::memcpy(&panel[cell * kPanelRows + row], plain + row * rowBytes + cell * 4, sizeof(Cell));
    for (int64_t cell = whole; cell < cells; ++cell)
        for (int64_t row = 0; row < rows; ++row)
            panel[cell * kPanelRows + row] = loadCell(plain + row * rowBytes, cell, rowBytes);
}

/// The first `rows` rows of a panel, plain. A few cells of every row at a time: whole lines are written.
void unpackPanel(const Cell* panel, int64_t rows, int64_t rowBytes, std::byte* plain) {
    constexpr int64_t kRun = 16;
    const int64_t whole = rowBytes / static_cast<int64_t>(sizeof(Cell));
    for (int64_t first = 0; first < whole; first += kRun)
        for (int64_t row = 0; row < rows; ++row)
            for (int64_t cell = first; cell < std::min(first + kRun, whole); ++cell)
                std::memcpy(plain + row * rowBytes + cell * 4, &panel[cell * kPanelRows + row], sizeof(Cell));
    for (int64_t row = 0; row < rows && whole * 4 < rowBytes; ++row)
        std::memcpy(plain + row * rowBytes + whole * 4, &panel[whole * kPanelRows + row],
                    static_cast<size_t>(rowBytes - whole * 4));
}

int64_t panelCount(int64_t rows) {
    return (rows + kPanelRows - 1) / kPanelRows;
}

int64_t rowBytes(WeightType type, int64_t columns) {
    return columns * static_cast<int64_t>(c10::elementSize(type.dtype));
}

void copyStoredRow(const Cell* from, int64_t bytes, std::byte* output) {
    const int64_t whole = bytes / 4;
    for (int64_t cell = 0; cell < whole; ++cell)
        std::memcpy(output + cell * 4, from + cell * kPanelRows, sizeof(Cell));
    if (whole * 4 < bytes)
        std::memcpy(output + whole * 4, from + whole * kPanelRows, static_cast<size_t>(bytes - whole * 4));
}

/// The first `rows` rows of a panel, plain.
void copyPanel(WeightType type, const std::byte* panel, int64_t rows, int64_t columns, std::byte* plain) {
    const int64_t bytes = rowBytes(type, columns);
    if (type.format == WeightFormat::stored)
        unpackPanel(reinterpret_cast<const Cell*>(panel), rows, bytes, plain);
    else
        dequantisePanel(type, panel, rows, columns, plain);
}

} // namespace

bool canPack(c10::ScalarType dtype) {
    return dtype == c10::ScalarType::Float || dtype == c10::ScalarType::BFloat16;
}

bool canQuantise(c10::ScalarType dtype) {
    return canPack(dtype) || dtype == c10::ScalarType::Half || dtype == c10::ScalarType::Double;
}

bool packRows(WeightType type, c10::ScalarType source, const void* plain, int64_t rows, int64_t columns,
              void* panels) {
    const int64_t bytes = rowBytes(source, columns);
    const int64_t stride = panelBytes(type, columns);
    std::atomic<bool> fits = true;
    parallelFor(panelCount(rows), 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const auto* from = static_cast<const std::byte*>(plain) + i * kPanelRows * bytes;
            auto* to = static_cast<std::byte*>(panels) + i * stride;
            const int64_t count = std::min(kPanelRows, rows - i * kPanelRows);
            if (type.format == WeightFormat::stored)
                packPanel(from, count, bytes, cellsPerRow(type.dtype, columns), reinterpret_cast<Cell*>(to));
            else if (!quantisePanel(type.format, source, from, count, columns, to))
                fits = false;
        }
    });
    return fits;
}

PackedWeight::PackedWeight(WeightType type, int64_t columns, std::vector<Block> blocks)
    : m_type(type), m_columns(columns), m_blocks(std::move(blocks)) {
    for (const Block& block : m_blocks) {
        m_rows += block.rows;
        m_panelBlocks.push_back({block.panels.get(), block.rows, type.format});
    }
}

PackedWeight PackedWeight::of(const at::Tensor& plain, WeightFormat format) {
    auto weight = tryOf(plain, format);
    TORCH_CHECK_VALUE(weight.has_value(),
                      "workbench::linear: a weight with values that are infinite, not a number or beyond "
                      "2^120 cannot be quantised.");
    return std::move(*weight);
}

std::optional<PackedWeight> PackedWeight::tryOf(const at::Tensor& plain, WeightFormat format) {
    return tryOf(plain, WeightType(plain.scalar_type(), format));
}

std::optional<PackedWeight> PackedWeight::tryOf(const at::Tensor& plain, WeightType type) {
    const c10::ScalarType source = plain.scalar_type();
    const bool taken = type.format == WeightFormat::stored ? source == type.dtype : canQuantise(source);
    TORCH_CHECK_VALUE((plain.dim() == 2 || plain.dim() == 3) && canPack(type.dtype) && taken &&
                          plain.is_cpu(),
                      "workbench::linear: only matrices of float32 or bfloat16 on the CPU are packed, got ",
                      source, " of ", plain.sizes(), ".");
    const at::Tensor contiguous = plain.contiguous();
    const int64_t rows = plain.size(-2), columns = plain.size(-1);
    const auto* data = static_cast<const std::byte*>(contiguous.const_data_ptr());
    const int64_t bytes = rows * rowBytes(source, columns);
    bool fits = true;
    auto weight =
        stacked(type, plain.dim() == 3 ? plain.size(0) : 1, rows, columns, [&](int64_t block, void* panels) {
            fits = fits && packRows(type, source, data + block * bytes, rows, columns, panels);
        });
    return fits ? std::optional(std::move(weight)) : std::nullopt;
}

PackedWeight PackedWeight::stacked(WeightType type, int64_t count, int64_t rows, int64_t columns,
                                   const std::function<void(int64_t block, void* panels)>& fill) {
    const int64_t bytes = packedBytes(type, rows, columns);
    const auto memory = PanelMemory::shared().allocate(static_cast<size_t>(count * bytes));
    std::vector<Block> blocks;
    for (int64_t i = 0; i < count; ++i) {
        auto* panels = reinterpret_cast<std::byte*>(memory.get()) + i * bytes;
        fill(i, panels);
        blocks.push_back({std::shared_ptr<const void>(memory, panels), rows});
    }
    return {type, columns, std::move(blocks)};
}

PackedWeight PackedWeight::joined(const std::vector<PackedWeight>& parts) {
    TORCH_CHECK_VALUE(!parts.empty(), "workbench::linear: there are no weights to join.");
    std::vector<Block> blocks;
    for (const PackedWeight& part : parts) {
        TORCH_CHECK_VALUE(
            part.type() == parts[0].type() && part.columns() == parts[0].columns(),
            "workbench::linear: weights of different dtypes, formats or widths cannot be joined.");
        blocks.insert(blocks.end(), part.blocks().begin(), part.blocks().end());
    }
    return {parts[0].type(), parts[0].columns(), std::move(blocks)};
}

void PackedWeight::copyRow(int64_t row, void* to) const {
    auto block = m_blocks.begin();
    for (; row >= block->rows; ++block)
        row -= block->rows;
    const auto* panel =
        static_cast<const std::byte*>(block->panels.get()) + row / kPanelRows * panelBytes(m_type, m_columns);
    if (m_type.format == WeightFormat::stored)
        copyStoredRow(reinterpret_cast<const Cell*>(panel) + row % kPanelRows, rowBytes(m_type, m_columns),
                      static_cast<std::byte*>(to));
    else
        dequantiseRow(m_type, panel, row % kPanelRows, m_columns, to);
}

void PackedWeight::copyBlock(int64_t block, void* to) const {
    const Block& from = m_blocks[static_cast<size_t>(block)];
    const int64_t stride = panelBytes(m_type, m_columns);
    const int64_t plainStride = kPanelRows * rowBytes(m_type, m_columns);
    parallelFor(panelCount(from.rows), 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            copyPanel(m_type, static_cast<const std::byte*>(from.panels.get()) + i * stride,
                      std::min(kPanelRows, from.rows - i * kPanelRows), m_columns,
                      static_cast<std::byte*>(to) + i * plainStride);
    });
}

at::Tensor PackedWeight::unpacked() const {
    at::Tensor plain = at::empty({m_rows, m_columns}, m_type.dtype);
    auto* data = static_cast<std::byte*>(plain.mutable_data_ptr());
    const int64_t bytes = rowBytes(m_type, m_columns);
    for (int64_t row = 0; row < m_rows; ++row)
        copyRow(row, data + row * bytes);
    return plain;
}

} // namespace workbench::ops
