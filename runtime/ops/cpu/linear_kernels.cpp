#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/linear_tile.h"
#include "runtime/ops/packed_weight.h"
#include "runtime/ops/thread_pool.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// Sums of a block of rows with one panel lie on the stack: 12 KB.
constexpr int64_t kMaxBlockRows = 192;
/// Input rows that stay in the second cache while panels pass by.
constexpr int64_t kBlockBytes = 384 << 10;
/// A range of a panel that stays in the first cache while tiles pass by.
constexpr int64_t kPanelBytes = 16 << 10;
/// What a thread reads at least from memory in one piece, so that streams stay long.
constexpr int64_t kPieceBytes = 64 << 10;

/// Memory of a thread that the next call uses again.
template <typename Operand>
Operand* scratch(int64_t elements) {
    thread_local std::unique_ptr<Operand[]> memory;
    thread_local int64_t size = 0;
    if (size < elements) {
        memory.reset(new Operand[static_cast<size_t>(elements)]);
        size = elements;
    }
    return memory.get();
}

template <typename T>
struct Inputs {
    const typename Lanes<T>::Operand* data;
    int64_t stride; // elements; for bfloat16 a multiple of a pair
};

template <typename T>
void convertRow(const T* from, int64_t columns, typename Lanes<T>::Operand* to, int64_t stride) {
    using Operand = typename Lanes<T>::Operand;
    int64_t column = 0;
    if constexpr (std::is_same_v<T, Operand>) {
        std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(T));
        column = columns;
    } else {
        for (; column + 16 <= columns; column += 16)
            store(load(from + column), to + column);
    }
    for (; column < stride; ++column)
        to[column] = column < columns ? static_cast<Operand>(from[column]) : Operand(0);
}

/// The call's input as the tiles read it: itself, or a copy that is wider or filled up.
template <typename T>
Inputs<T> prepare(const LinearCall& call) {
    using Operand = typename Lanes<T>::Operand;
    const auto* input = static_cast<const T*>(call.input);
    const int64_t stride = packedColumns(call.dtype, call.columns);
    if constexpr (std::is_same_v<T, Operand>)
        if (stride == call.columns)
            return {input, stride};
    Operand* copy = scratch<Operand>(call.rows * stride);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, stride));
    parallelFor(call.rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
            convertRow<T>(input + row * call.columns, call.columns, copy + row * stride, stride);
    });
    return {copy, stride};
}

/// One panel of the weight, or two that follow each other, and where their rows stand in the output.
template <typename T>
struct Panels {
    const T* data;
    int64_t count;
    int64_t firstOutput;
    int64_t rows;
};

int64_t panelsOf(const PanelBlock& block) {
    return (block.rows + kPanelRows - 1) / kPanelRows;
}

/// How many groups of `together` panels there are; one that would reach into the next block is smaller.
int64_t groupsOf(const PanelBlock& block, int64_t together) {
    return (panelsOf(block) + together - 1) / together;
}

template <typename T>
Panels<T> groupAt(const LinearCall& call, int64_t group, int64_t together, int64_t stride) {
    const PanelBlock* block = call.blocks;
    int64_t firstOutput = 0;
    for (; group >= groupsOf(*block, together); ++block) {
        group -= groupsOf(*block, together);
        firstOutput += block->rows;
    }
    const int64_t panel = group * together;
    const int64_t count = std::min(together, panelsOf(*block) - panel);
    return {static_cast<const T*>(block->panels) + panel * kPanelRows * stride, count,
            firstOutput + panel * kPanelRows, std::min(count * kPanelRows, block->rows - panel * kPanelRows)};
}

/// Rounds the sums [rows][16] of one panel, whose first `outputs` rows the weight has, to the output.
template <typename T>
void storeSums(const LinearCall& call, int64_t firstOutput, int64_t outputs, int64_t firstRow, int64_t rows,
               const float* sums) {
    T bias[kPanelRows] = {};
    const auto bytes = static_cast<size_t>(outputs) * sizeof(T);
    if (call.bias != nullptr)
        std::memcpy(bias, static_cast<const T*>(call.bias) + firstOutput, bytes);
    for (int64_t row = 0; row < rows; ++row) {
        T* output = static_cast<T*>(call.output) + (firstRow + row) * call.outputs + firstOutput;
        const Sixteen value = add(load(sums + row * kPanelRows), load(bias));
        if (outputs == kPanelRows) {
            store(value, output);
        } else {
            T part[kPanelRows];
            store(value, part);
            std::memcpy(output, part, bytes);
        }
    }
}

/// All rows, at most kWideRows, with two panels.
template <typename T>
void runWide(const LinearCall& call, const Inputs<T>& inputs, const Panels<T>& panels) {
    alignas(64) float sums[2 * kWideRows * kPanelRows];
    const int64_t panelStride = inputs.stride * kPanelRows;
    wideTile<T>(call.rows)(panels.data, panelStride, inputs.data, inputs.stride, inputs.stride, sums, false);
    for (int64_t panel = 0; panel < 2; ++panel)
        storeSums<T>(call, panels.firstOutput + panel * kPanelRows,
                     std::min(kPanelRows, panels.rows - panel * kPanelRows), 0, call.rows,
                     sums + panel * call.rows * kPanelRows);
}

/// `rows` rows from `firstRow` with one panel, at most `columns` columns at a time, in tiles of equal height.
template <typename T>
void runTall(const LinearCall& call, const Inputs<T>& inputs, const Panels<T>& panel, int64_t firstRow,
             int64_t rows, int64_t columns) {
    alignas(64) float sums[kMaxBlockRows * kPanelRows];
    const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
    const int64_t height = (rows + tiles - 1) / tiles;
    int64_t column = 0;
    do {
        const int64_t count = std::min(columns, inputs.stride - column);
        for (int64_t row = 0; row < rows; row += height)
            tallTile<T>(std::min(height, rows - row))(
                panel.data + column * kPanelRows, 0, inputs.data + (firstRow + row) * inputs.stride + column,
                inputs.stride, count, sums + row * kPanelRows, column > 0);
        column += count;
    } while (column < inputs.stride);
    storeSums<T>(call, panel.firstOutput, panel.rows, firstRow, rows, sums);
}

/// Rows of the input that are taken at a time: all of a few, else what the cache holds, in whole tiles.
int64_t blockRows(int64_t rows, int64_t rowBytes) {
    const int64_t fit =
        std::clamp(kBlockBytes / std::max<int64_t>(1, rowBytes), int64_t{4 * kTileRows}, kMaxBlockRows);
    if (rows <= fit)
        return rows;
    const int64_t blocks = (rows + fit - 1) / fit;
    const int64_t even = (rows + blocks - 1) / blocks;
    return std::min((even + kTileRows - 1) / kTileRows * kTileRows, fit / kTileRows * kTileRows);
}

template <typename T>
void run(const LinearCall& call) {
    const Inputs<T> inputs = prepare<T>(call);
    const int64_t height = blockRows(call.rows, inputs.stride * static_cast<int64_t>(sizeof(*inputs.data)));
    const int64_t blocks = (call.rows + height - 1) / height;
    const int64_t together = call.rows <= kWideRows ? 2 : 1;
    int64_t groups = 0;
    for (int64_t i = 0; i < call.blockCount; ++i)
        groups += groupsOf(call.blocks[i], together);
    const int64_t columnBytes = kPanelRows * static_cast<int64_t>(sizeof(T));
    const int64_t columns = call.rows <= kTileRows ? inputs.stride : kPanelBytes / columnBytes;
    const int64_t groupBytes = std::max<int64_t>(1, inputs.stride * columnBytes * together);
    const int64_t grain = height > 2 * kTileRows ? 1 : std::max<int64_t>(1, kPieceBytes / groupBytes);
    parallelFor(blocks * groups, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
            const Panels<T> panels = groupAt<T>(call, task % groups, together, inputs.stride);
            const int64_t firstRow = task / groups * height;
            if (panels.count == 2)
                runWide<T>(call, inputs, panels);
            else
                runTall<T>(call, inputs, panels, firstRow, std::min(height, call.rows - firstRow), columns);
        }
    });
}

/// The product of one group's rows with its block, as tasks that follow those of the groups before it.
struct Group {
    int64_t firstTask;
    LinearCall call;
    int64_t firstRow; ///< of the input
    int64_t height;   ///< rows of the input that are taken at a time
    int64_t together; ///< panels at a time
    int64_t panelGroups;
};

/// The rows of all groups as the tiles read them, one after another.
template <typename T>
Inputs<T> gather(const GroupedLinearCall& call) {
    using Operand = typename Lanes<T>::Operand;
    const auto* input = static_cast<const T*>(call.input);
    const int64_t stride = packedColumns(call.dtype, call.columns);
    if constexpr (std::is_same_v<T, Operand>)
        if (stride == call.columns && call.inputRows == nullptr)
            return {input, stride};
    const int64_t rows = call.begins[call.groups];
    Operand* copy = scratch<Operand>(rows * stride);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, stride));
    parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t from = call.inputRows ? call.inputRows[row] : row;
            convertRow<T>(input + from * call.columns, call.columns, copy + row * stride, stride);
        }
    });
    return {copy, stride};
}

/// The groups that have rows. Reuses the memory of the thread's last call.
template <typename T>
const std::vector<Group>& plan(const GroupedLinearCall& call, int64_t stride, int64_t& tasks) {
    thread_local std::vector<Group> groups;
    groups.clear();
    tasks = 0;
    for (int64_t i = 0; i < call.groups; ++i) {
        const int64_t rows = call.begins[i + 1] - call.begins[i];
        if (rows == 0)
            continue;
        LinearCall linear{.dtype = call.dtype};
        linear.rows = rows;
        linear.columns = call.columns;
        linear.blocks = call.blocks + i;
        linear.blockCount = 1;
        linear.outputs = call.outputs;
        linear.output = static_cast<T*>(call.output) + call.begins[i] * call.outputs;
        const int64_t together = rows <= kWideRows ? 2 : 1;
        const int64_t height =
            blockRows(rows, stride * static_cast<int64_t>(sizeof(typename Lanes<T>::Operand)));
        const int64_t panelGroups = groupsOf(call.blocks[i], together);
        groups.push_back({tasks, linear, call.begins[i], height, together, panelGroups});
        tasks += (rows + height - 1) / height * panelGroups;
    }
    return groups;
}

template <typename T>
void runTask(const Group& group, const Inputs<T>& all, int64_t task) {
    const LinearCall& call = group.call;
    const Inputs<T> inputs{all.data + group.firstRow * all.stride, all.stride};
    const Panels<T> panels = groupAt<T>(call, task % group.panelGroups, group.together, all.stride);
    const int64_t firstRow = task / group.panelGroups * group.height;
    const int64_t columns =
        call.rows <= kTileRows ? all.stride : kPanelBytes / (kPanelRows * static_cast<int64_t>(sizeof(T)));
    if (panels.count == 2)
        runWide<T>(call, inputs, panels);
    else
        runTall<T>(call, inputs, panels, firstRow, std::min(group.height, call.rows - firstRow), columns);
}

template <typename T>
void runGroups(const GroupedLinearCall& call) {
    const Inputs<T> inputs = gather<T>(call);
    int64_t tasks = 0;
    const std::vector<Group>& groups = plan<T>(call, inputs.stride, tasks);
    const int64_t panelBytes = std::max<int64_t>(1, inputs.stride * kPanelRows * sizeof(T));
    const int64_t grain = std::max<int64_t>(1, kPieceBytes / (2 * panelBytes));
    parallelFor(tasks, grain, [&](int64_t begin, int64_t end) {
        const auto after =
            std::upper_bound(groups.begin(), groups.end(), begin,
                             [](int64_t task, const Group& group) { return task < group.firstTask; });
        auto group = after - 1;
        for (int64_t task = begin; task < end; ++task) {
            while (group + 1 != groups.end() && task >= (group + 1)->firstTask)
                ++group;
            runTask<T>(*group, inputs, task - group->firstTask);
        }
    });
}

} // namespace

void linear(const LinearCall& call) {
    if (call.dtype == c10::ScalarType::Float)
        run<float>(call);
    else
        run<c10::BFloat16>(call);
}

void groupedLinear(const GroupedLinearCall& call) {
    if (call.dtype == c10::ScalarType::Float)
        runGroups<float>(call);
    else
        runGroups<c10::BFloat16>(call);
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
