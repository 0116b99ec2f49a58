#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/linear_inputs.h"
#include "runtime/ops/cpu/linear_tile.h"

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

template <typename W>
WeightType weightType() {
    return {c10::CppTypeToScalarType<typename Lanes<W>::Value>::value, Lanes<W>::kFormat};
}

/// Panels of the weight that follow each other, and where their rows stand in the output.
struct Panels {
    const std::byte* data;
    int64_t stride; ///< bytes from one to the next
    int64_t count;
    int64_t firstOutput;
    int64_t rows;

    Panels from(int64_t panel, int64_t panels) const {
        return {data + panel * stride, stride, panels, firstOutput + panel * kPanelRows,
                std::min(panels * kPanelRows, rows - panel * kPanelRows)};
    }
};

int64_t panelsOf(const PanelBlock& block) {
    return (block.rows + kPanelRows - 1) / kPanelRows;
}

/// How many groups of `together` panels there are; one that would reach into the next block is smaller.
int64_t groupsOf(const PanelBlock& block, int64_t together) {
    return (panelsOf(block) + together - 1) / together;
}

Panels groupAt(const LinearCall& call, int64_t group, int64_t together, int64_t panelStride) {
    const PanelBlock* block = call.blocks;
    int64_t firstOutput = 0;
    for (; group >= groupsOf(*block, together); ++block) {
        group -= groupsOf(*block, together);
        firstOutput += block->rows;
    }
    const Panels all{static_cast<const std::byte*>(block->panels), panelStride, panelsOf(*block), firstOutput,
                     block->rows};
    return all.from(group * together, std::min(together, all.count - group * together));
}

/// The sums of one panel, scaled where its weights are, plus the bias.
template <typename W>
Sixteen finished(const float* sums, const std::byte* panel, const Sixteen& bias) {
    if constexpr (Lanes<W>::kFormat == WeightFormat::int8)
        return multiplyAdd(load(sums), load(reinterpret_cast<const float*>(panel)), bias);
    else
        return add(load(sums), bias);
}

/// Rounds the sums [rows][16] of one panel to the output.
template <typename W>
void storeSums(const LinearCall& call, const Panels& panel, int64_t firstRow, int64_t rows,
               const float* sums) {
    using T = typename Lanes<W>::Value;
    T bias[kPanelRows] = {};
    const auto bytes = static_cast<size_t>(panel.rows) * sizeof(T);
    if (call.bias != nullptr)
        std::memcpy(bias, static_cast<const T*>(call.bias) + panel.firstOutput, bytes);
    for (int64_t row = 0; row < rows; ++row) {
        T* output = static_cast<T*>(call.output) + (firstRow + row) * call.outputs + panel.firstOutput;
        const Sixteen value = finished<W>(sums + row * kPanelRows, panel.data, load(bias));
        if (panel.rows == kPanelRows) {
            store(value, output);
        } else {
            T part[kPanelRows];
            store(value, part);
            std::memcpy(output, part, bytes);
        }
    }
}

/// All rows, at most kWideRows, with two panels or as many as panelsAtOnce() says.
template <typename W>
void runWide(const LinearCall& call, const Inputs<W>& inputs, const Panels& panels) {
    alignas(64) float sums[std::max(2 * kWideRows, kRowPanels) * kPanelRows];
    wideTile<W>(call.rows, panels.count)(panels.data, panels.stride, inputs.data, inputs.stride,
                                         inputs.columns, sums, false);
    for (int64_t panel = 0; panel < panels.count; ++panel)
        storeSums<W>(call, panels.from(panel, 1), 0, call.rows, sums + panel * call.rows * kPanelRows);
}

/// Adds a range of columns to the sums of `rows` rows with one panel, in tiles of equal height.
template <typename W>
void sumRange(const std::byte* weights, const Inputs<W>& inputs, int64_t rows, int64_t columns, float* sums,
              bool more) {
    const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
    const int64_t height = (rows + tiles - 1) / tiles;
    for (int64_t row = 0; row < rows; row += height)
        tallTile<W>(std::min(height, rows - row))(weights, 0, inputs.data + row * inputs.stride,
                                                  inputs.stride, columns, sums + row * kPanelRows, more);
}

/// `rows` rows with one panel, a range of columns at a time.
template <typename W>
void sumPanel(const std::byte* panel, const Inputs<W>& inputs, int64_t rows, float* sums) {
    const int64_t columnBytes = kPanelRows * static_cast<int64_t>(sizeof(typename Lanes<W>::Value));
    const int64_t most = rows <= kTileRows ? inputs.columns : kPanelBytes / columnBytes;
    int64_t column = 0;
    do {
        const int64_t count = std::min(most, inputs.columns - column);
        sumRange<W>(Lanes<W>::at(panel, column), {inputs.data + column, inputs.stride, count}, rows, count,
                    sums, column > 0);
        column += count;
    } while (column < inputs.columns);
}

/// The same for weights of 8 bits: a range is widened once for all tiles, where there are several.
template <typename W>
void sumInt8Panel(const std::byte* panel, const Inputs<W>& inputs, int64_t rows, float* sums) {
    using L = Lanes<W>;
    using Wide = typename L::Wide;
    if (rows <= 2 * kTileRows)
        return sumRange<W>(panel, inputs, rows, inputs.columns, sums, false);
    alignas(64) std::byte range[kPanelBytes];
    constexpr int64_t kMost = kPanelBytes / (kPanelRows * static_cast<int64_t>(sizeof(Wide)));
    int64_t column = 0;
    do {
        const int64_t count = std::min(kMost, inputs.columns - column);
        for (int64_t i = 0; i < count; i += L::kStep)
            L::widen(L::at(panel, column + i), range + i * kPanelRows * static_cast<int64_t>(sizeof(Wide)));
        sumRange<Wide>(range, {inputs.data + column, inputs.stride, count}, rows, count, sums, column > 0);
        column += count;
    } while (column < inputs.columns);
}

/// `rows` rows from `firstRow` with one panel.
template <typename W>
void runTall(const LinearCall& call, const Inputs<W>& inputs, const Panels& panel, int64_t firstRow,
             int64_t rows) {
    alignas(64) float sums[kMaxBlockRows * kPanelRows];
    const Inputs<W> from{inputs.data + firstRow * inputs.stride, inputs.stride, inputs.columns};
    if constexpr (Lanes<W>::kFormat == WeightFormat::stored)
        sumPanel<W>(panel.data, from, rows, sums);
    else if constexpr (Lanes<W>::kFormat == WeightFormat::int8)
        sumInt8Panel<W>(panel.data, from, rows, sums);
    else
        sumRange<W>(panel.data, from, rows, from.columns, sums, false);
    storeSums<W>(call, panel, firstRow, rows, sums);
}

/// What is left of fewer panels than usual goes in pairs, then alone.
template <typename W>
void runPanels(const LinearCall& call, const Inputs<W>& inputs, const Panels& panels, int64_t firstRow,
               int64_t rows) {
    const int64_t together = panelsAtOnce<W>(call.rows);
    if (together > 1 && panels.count == together)
        return runWide<W>(call, inputs, panels);
    int64_t panel = 0;
    for (; together > 1 && panel + 2 <= panels.count; panel += 2)
        runWide<W>(call, inputs, panels.from(panel, 2));
    for (; panel < panels.count; ++panel)
        runTall<W>(call, inputs, panels.from(panel, 1), firstRow, rows);
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

/// A product as tasks: groups of panels times blocks of rows.
struct Tasks {
    int64_t height;   ///< rows of the input that are taken at a time
    int64_t together; ///< panels at a time
    int64_t groups;   ///< of panels
    int64_t count;
};

template <typename W>
Tasks tasksOf(const LinearCall& call, const Inputs<W>& inputs) {
    Tasks tasks{};
    tasks.height = blockRows(call.rows, inputs.stride * static_cast<int64_t>(sizeof(*inputs.data)));
    tasks.together = panelsAtOnce<W>(call.rows);
    for (int64_t i = 0; i < call.blockCount; ++i)
        tasks.groups += groupsOf(call.blocks[i], tasks.together);
    tasks.count = (call.rows + tasks.height - 1) / tasks.height * tasks.groups;
    return tasks;
}

template <typename W>
void runTask(const LinearCall& call, const Inputs<W>& inputs, const Tasks& tasks, int64_t panelStride,
             int64_t task) {
    const Panels panels = groupAt(call, task % tasks.groups, tasks.together, panelStride);
    const int64_t firstRow = task / tasks.groups * tasks.height;
    runPanels<W>(call, inputs, panels, firstRow, std::min(tasks.height, call.rows - firstRow));
}

template <typename W>
void run(const LinearCall& call) {
    const Inputs<W> inputs = inputsFor<W>(call.input, nullptr, call.rows, call.columns);
    const Tasks tasks = tasksOf<W>(call, inputs);
    const int64_t panelStride = panelBytes(weightType<W>(), call.columns);
    const int64_t groupBytes = std::max<int64_t>(1, panelStride * tasks.together);
    const int64_t grain = tasks.height > 2 * kTileRows ? 1 : std::max<int64_t>(1, kPieceBytes / groupBytes);
    parallelFor(tasks.count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task)
            runTask<W>(call, inputs, tasks, panelStride, task);
    });
}

/// The product of one group's rows with its block, as tasks that follow those of the groups before it.
struct Group {
    int64_t firstTask;
    LinearCall call;
    int64_t firstRow; ///< of the input
    Tasks tasks;
};

/// The groups that have rows. Reuses the memory of the thread's last call.
template <typename W>
const std::vector<Group>& plan(const GroupedLinearCall& call, const Inputs<W>& inputs, int64_t& tasks) {
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
        linear.output = static_cast<typename Lanes<W>::Value*>(call.output) + call.begins[i] * call.outputs;
        groups.push_back({tasks, linear, call.begins[i], tasksOf<W>(linear, inputs)});
        tasks += groups.back().tasks.count;
    }
    return groups;
}

template <typename W>
void runGroups(const GroupedLinearCall& call) {
    const Inputs<W> inputs = inputsFor<W>(call.input, call.inputRows, call.begins[call.groups], call.columns);
    int64_t tasks = 0;
    const std::vector<Group>& groups = plan<W>(call, inputs, tasks);
    const int64_t panelStride = panelBytes(weightType<W>(), call.columns);
    const int64_t grain = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, 2 * panelStride));
    parallelFor(tasks, grain, [&](int64_t begin, int64_t end) {
        const auto after =
            std::upper_bound(groups.begin(), groups.end(), begin,
                             [](int64_t task, const Group& group) { return task < group.firstTask; });
        auto group = after - 1;
        for (int64_t task = begin; task < end; ++task) {
            while (group + 1 != groups.end() && task >= (group + 1)->firstTask)
                ++group;
            runTask<W>(group->call,
                       {inputs.data + group->firstRow * inputs.stride, inputs.stride, inputs.columns},
                       group->tasks, panelStride, task - group->firstTask);
        }
    });
}

/// Calls function<W>() for weights of one format and inputs of T.
template <typename T, typename F>
void withFormat(WeightFormat format, const F& function) {
    switch (format) {
    case WeightFormat::stored:
        return function.template operator()<T>();
    case WeightFormat::int8:
        return function.template operator()<Int8<T>>();
    case WeightFormat::int4:
        return function.template operator()<Int4<T>>();
    }
}

/// The same for the weights of `blocks`.
template <typename F>
void withWeights(c10::ScalarType dtype, const PanelBlock* blocks, int64_t count, const F& function) {
    const WeightFormat format = count > 0 ? blocks->format : WeightFormat::stored;
    if (dtype == c10::ScalarType::Float)
        withFormat<float>(format, function);
    else
        withFormat<c10::BFloat16>(format, function);
}

} // namespace

void linear(const LinearCall& call) {
    withWeights(call.dtype, call.blocks, call.blockCount, [&]<typename W>() { run<W>(call); });
}

void groupedLinear(const GroupedLinearCall& call) {
    withWeights(call.dtype, call.blocks, call.groups, [&]<typename W>() { runGroups<W>(call); });
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
