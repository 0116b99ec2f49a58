#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/linear_inputs.h"
#include "runtime/ops/cpu/linear_tile.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// Sums of a block of rows with a panel lie on the stack: 12 KB.
constexpr int64_t kMaxBlockRows = 192;
/// Input rows that stay in the second cache while panels pass by.
constexpr int64_t kBlockBytes = 384 << 10;
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

/// Some tiles of an input.
struct TileRange {
    int64_t begin, end;
};

/// The products of a range of tiles with some panels.
template <typename W>
struct Block {
    const LinearCall& call;
    const Inputs<W>& inputs;
    const RowTiles<W>& tiles;
    TileRange range;
    Panels panels;
    float* sums; ///< of each tile [panels][rows][16]

    /// Adds `columns` columns from `column` on, for which the panels' weights, as A has them, are at
    /// `weights`. With the last column a tile's sums become outputs: storing those of many tiles at once
    /// would wait for memory.
    template <typename A>
    void add(const std::byte* weights, int64_t stride, int64_t column, int64_t columns) const {
        using L = Lanes<A>;
        const bool whole = columns == inputs.columns;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t row = tiles.begin(i), height = tiles.height(i);
            float* own = whole ? sums : sums + (row - tiles.begin(range.begin)) * panels.count * kPanelRows;
            tileFor<A>(height, panels.count)(weights, stride, inputs.data + row * inputs.stride + column,
                                             inputs.stride, columns, {own, kPanelRows, height * kPanelRows},
                                             column > 0);
            if (column + columns == inputs.columns)
                store(row, height, own);
        }
    }

private:
    void store(int64_t row, int64_t height, const float* own) const {
        for (int64_t panel = 0; panel < panels.count; ++panel)
            storeSums<W>(call, panels.from(panel, 1), row, height, own + panel * height * kPanelRows);
    }
};

/// Ranges begin at multiples of it: whole steps, groups and lines.
constexpr int64_t kRangeMultiple = 32;

/// Calls function(column, count) for ranges of about equal length, of at most `most` columns.
template <typename F>
void forRanges(int64_t columns, int64_t most, const F& function) {
    const int64_t ranges = std::max<int64_t>(1, (columns + most - 1) / most);
    const int64_t length =
        ((columns + ranges - 1) / ranges + kRangeMultiple - 1) / kRangeMultiple * kRangeMultiple;
    int64_t column = 0;
    do {
        function(column, std::min(length, columns - column));
        column += length;
    } while (column < columns);
}

/// Columns of a panel whose weights stay in the cache while tiles pass by.
template <typename W>
constexpr int64_t kRangeColumns = kRangeBytes /
                                  (kPanelRows * static_cast<int64_t>(sizeof(typename Lanes<W>::Value)));

/// Weights of 8 bits are widened once for all tiles, a range at a time.
template <typename W>
void addWidened(const Block<W>& block) {
    using L = Lanes<W>;
    using Wide = typename L::Wide;
    constexpr int64_t kColumnBytes = kPanelRows * static_cast<int64_t>(sizeof(Wide));
    static_assert(kRangeColumns<Wide> % kRangeMultiple == 0);
    constexpr int64_t kStride = kRangeColumns<Wide> * kColumnBytes;
    alignas(64) std::byte widened[kBlockPanels * kStride];
    forRanges(block.inputs.columns, kRangeColumns<Wide>, [&](int64_t column, int64_t count) {
        for (int64_t panel = 0; panel < block.panels.count; ++panel)
            for (int64_t i = 0; i < count; i += L::kStep)
                L::widen(L::at(block.panels.from(panel, 1).data, column + i),
                         widened + panel * kStride + i * kColumnBytes);
        block.template add<Wide>(widened, kStride, column, count);
    });
}

template <typename W>
void addAll(const Block<W>& block) {
    const int64_t tiles = block.range.end - block.range.begin;
    if constexpr (Lanes<W>::kFormat == WeightFormat::stored) {
        if (tiles > 1)
            return forRanges(block.inputs.columns, kRangeColumns<W>, [&](int64_t column, int64_t count) {
                block.template add<W>(Lanes<W>::at(block.panels.data, column), block.panels.stride, column,
                                      count);
            });
    } else if constexpr (Lanes<W>::kFormat == WeightFormat::int8) {
        if (tiles > 2)
            return addWidened(block);
    }
    block.template add<W>(block.panels.data, block.panels.stride, 0, block.inputs.columns);
}

/// The rows of some tiles with panelsAtOnce() panels, or what is left of them: in pairs, then alone.
template <typename W>
void runPanels(const LinearCall& call, const Inputs<W>& inputs, const RowTiles<W>& tiles,
               const Panels& panels, const TileRange& range) {
    alignas(64) float sums[std::max<size_t>(kRowPanels, kBlockPanels * kMaxBlockRows) * kPanelRows];
    const int64_t together = panelsAtOnce<W>(call.rows);
    for (int64_t first = 0; first < panels.count;) {
        const int64_t left = panels.count - first;
        const int64_t count = left >= together ? together : together > 2 && left >= 2 ? 2 : 1;
        addAll(Block<W>{call, inputs, tiles, range, panels.from(first, count), sums});
        first += count;
    }
}

/// A product as tasks: groups of panels times blocks of tiles of rows.
template <typename W>
struct Tasks {
    RowTiles<W> tiles;
    int64_t blocks;   ///< of tiles
    int64_t together; ///< panels at a time
    int64_t groups;   ///< of panels

    int64_t count() const { return blocks * groups; }
    TileRange block(int64_t i) const { return {tiles.count * i / blocks, tiles.count * (i + 1) / blocks}; }
};

template <typename W>
Tasks<W> tasksOf(const LinearCall& call, const Inputs<W>& inputs) {
    Tasks<W> tasks{{call.rows}, 0, panelsAtOnce<W>(call.rows), 0};
    const int64_t rowBytes = inputs.stride * static_cast<int64_t>(sizeof(*inputs.data));
    const int64_t rows =
        std::clamp(kBlockBytes / std::max<int64_t>(1, rowBytes), int64_t{4 * kTileRows}, kMaxBlockRows);
    const int64_t most = rows / tasks.tiles.highest();
    tasks.blocks = (tasks.tiles.count + most - 1) / most;
    for (int64_t i = 0; i < call.blockCount; ++i)
        tasks.groups += groupsOf(call.blocks[i], tasks.together);
    return tasks;
}

template <typename W>
void runTask(const LinearCall& call, const Inputs<W>& inputs, const Tasks<W>& tasks, int64_t panelStride,
             int64_t task) {
    const Panels panels = groupAt(call, task % tasks.groups, tasks.together, panelStride);
    runPanels<W>(call, inputs, tasks.tiles, panels, tasks.block(task / tasks.groups));
}

template <typename W>
void run(const LinearCall& call) {
    const Inputs<W> inputs = inputsFor<W>(call.input, nullptr, call.rows, call.columns);
    const Tasks<W> tasks = tasksOf<W>(call, inputs);
    const int64_t panelStride = panelBytes(weightType<W>(), call.columns);
    const int64_t groupBytes = std::max<int64_t>(1, panelStride * tasks.together);
    const int64_t grain = tasks.tiles.count > 2 ? 1 : std::max<int64_t>(1, kPieceBytes / groupBytes);
    parallelFor(tasks.count(), grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task)
            runTask<W>(call, inputs, tasks, panelStride, task);
    });
}

/// The product of one group's rows with its block, as tasks that follow those of the groups before it.
template <typename W>
struct Group {
    int64_t firstTask;
    LinearCall call;
    Inputs<W> inputs;
    Tasks<W> tasks;
};

/// The groups that have rows. Reuses the memory of the thread's last call.
template <typename W>
const std::vector<Group<W>>& plan(const GroupedLinearCall& call, int64_t& tasks) {
    thread_local std::vector<Group<W>> groups;
    groups.clear();
    tasks = 0;
    const Inputs<W> inputs = inputsFor<W>(call.input, call.inputRows, call.begins[call.groups], call.columns);
    for (int64_t i = 0; i < call.groups; ++i) {
        if (call.begins[i] == call.begins[i + 1])
            continue;
        LinearCall linear{.dtype = call.dtype};
        linear.rows = call.begins[i + 1] - call.begins[i];
        linear.columns = call.columns;
        linear.blocks = call.blocks + i;
        linear.blockCount = 1;
        linear.outputs = call.outputs;
        linear.output = static_cast<typename Lanes<W>::Value*>(call.output) + call.begins[i] * call.outputs;
        const Inputs<W> own{inputs.data + call.begins[i] * inputs.stride, inputs.stride, inputs.columns};
        groups.push_back({tasks, linear, own, tasksOf<W>(linear, own)});
        tasks += groups.back().tasks.count();
    }
    return groups;
}

template <typename W>
void runGroups(const GroupedLinearCall& call) {
    int64_t tasks = 0;
    const std::vector<Group<W>>& groups = plan<W>(call, tasks);
    const int64_t panelStride = panelBytes(weightType<W>(), call.columns);
    const int64_t grain = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, 2 * panelStride));
    parallelFor(tasks, grain, [&](int64_t begin, int64_t end) {
        const auto after =
            std::upper_bound(groups.begin(), groups.end(), begin,
                             [](int64_t task, const Group<W>& group) { return task < group.firstTask; });
        auto group = after - 1;
        for (int64_t task = begin; task < end; ++task) {
            while (group + 1 != groups.end() && task >= (group + 1)->firstTask)
                ++group;
            runTask<W>(group->call, group->inputs, group->tasks, panelStride, task - group->firstTask);
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
