#include "runtime/program/device_step.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstring>

namespace workbench {
namespace {

template <typename T>
at::Tensor onDevice(const std::vector<T>& values, at::IntArrayRef sizes, c10::Device device) {
    at::Tensor host = at::empty(sizes, c10::CppTypeToScalarType<T>::value);
    std::copy(values.begin(), values.end(), host.mutable_data_ptr<T>());
    return host.to(device);
}

template <typename T>
at::Tensor onDevice(const std::vector<T>& values, c10::Device device) {
    return onDevice(values, {std::ssize(values)}, device);
}

std::int64_t keysOf(const StepSequence& sequence) {
    return sequence.firstPosition + sequence.tokens;
}

/// What a prompt of one layer group needs, gathered on the host.
struct HostPrompts {
    std::vector<std::int64_t> tokens, keyBlocks, keySlots;
    std::vector<std::int32_t> queryEnds{0}, keyEnds{0};
    std::int64_t mostQueries = 0, mostKeys = 0;

    /// `window`: keys that a query sees at most, itself included; 0: all.
    void add(const StepSequence& sequence, const std::vector<BlockId>& blocks, std::int64_t blockTokens,
             std::int64_t window) {
        for (std::int64_t i = 0; i < sequence.tokens; ++i)
            tokens.push_back(sequence.firstToken + i);
        const std::int64_t first =
            window > 0 ? std::max<std::int64_t>(0, sequence.firstPosition - window + 1) : 0;
        for (std::int64_t position = first; position < keysOf(sequence); ++position) {
            keyBlocks.push_back(blocks[static_cast<std::size_t>(position / blockTokens)]);
            keySlots.push_back(position % blockTokens);
        }
        queryEnds.push_back(static_cast<std::int32_t>(tokens.size()));
        keyEnds.push_back(static_cast<std::int32_t>(keyBlocks.size()));
        mostQueries = std::max(mostQueries, sequence.tokens);
        mostKeys = std::max(mostKeys, keysOf(sequence) - first);
    }
    ops::PromptTables on(c10::Device device) const {
        return {.tokens = onDevice(tokens, device),
                .queryEnds = onDevice(queryEnds, device),
                .keyBlocks = onDevice(keyBlocks, device),
                .keySlots = onDevice(keySlots, device),
                .keyEnds = onDevice(keyEnds, device),
                .mostQueries = mostQueries,
                .mostKeys = mostKeys};
    }
};

} // namespace

std::vector<ops::PagedTables> tablesFor(const StepPlan& plan, PagedKvCache& cache, c10::Device device) {
    const BlockLayout layout = cache.layout();
    const auto sequences = std::ssize(plan.sequences);
    std::vector<std::int32_t> sequenceOf(plan.tokens.size());
    std::vector<std::int64_t> singles;
    std::int64_t mostKeys = 0, width = 1;
    for (std::int64_t i = 0; i < sequences; ++i) {
        const StepSequence& sequence = plan.sequences[static_cast<std::size_t>(i)];
        std::fill_n(sequenceOf.begin() + sequence.firstToken, sequence.tokens, static_cast<std::int32_t>(i));
        if (sequence.tokens == 1)
            singles.push_back(sequence.firstToken);
        mostKeys = std::max(mostKeys, keysOf(sequence));
        for (const auto& table : sequence.tables)
            width = std::max<std::int64_t>(width, std::ssize(table));
    }
    const at::Tensor sequencesOnDevice = onDevice(sequenceOf, device);
    const bool hasPrompts = std::ssize(singles) < sequences;
    std::vector<ops::PagedTables> all;
    for (std::size_t group = 0; group < layout.windows.size(); ++group) {
        std::vector<BlockId> blocks(static_cast<std::size_t>(sequences * width), kNoBlock);
        HostPrompts prompts;
        for (std::int64_t i = 0; i < sequences; ++i) {
            const StepSequence& sequence = plan.sequences[static_cast<std::size_t>(i)];
            std::ranges::copy(sequence.tables[group], blocks.begin() + i * width);
            if (sequence.tokens > 1)
                prompts.add(sequence, sequence.tables[group], layout.blockTokens, layout.windows[group]);
        }
        ops::PagedTables tables{.sequences = sequencesOnDevice,
                                .blocks = onDevice(blocks, {sequences, width}, device),
                                .singles = {},
                                .prompts = {},
                                .mostKeys = mostKeys};
        if (hasPrompts) {
            tables.singles = onDevice(singles, device);
            tables.prompts = prompts.on(device);
        }
        all.push_back(std::move(tables));
    }
    return all;
}

DecodeStep::Staged DecodeStep::stage(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device) {
    const bool pinned = !device.is_cpu();
    return {at::empty(sizes, at::TensorOptions(dtype).pinned_memory(pinned)),
            at::empty(sizes, at::TensorOptions(device).dtype(dtype))};
}

DecodeStep::DecodeStep(std::int64_t capacity, std::int64_t mostKeys, PagedKvCache& cache, c10::Device device)
    : m_capacity(capacity), m_spare(static_cast<BlockId>(cache.layout().blocks)),
      m_numbers(stage({2, capacity}, at::kLong, device)) {
    const BlockLayout layout = cache.layout();
    const std::int64_t width = (mostKeys + layout.blockTokens - 1) / layout.blockTokens;
    m_tokens = m_numbers.device.narrow(0, 0, 1);
    m_positions = m_numbers.device.narrow(0, 1, 1);
    m_rows = at::arange(capacity, at::TensorOptions(device).dtype(at::kLong));
    const at::Tensor sequences = at::arange(capacity, at::TensorOptions(device).dtype(at::kInt));
    m_run.cache = &cache;
    for (std::size_t group = 0; group < layout.windows.size(); ++group) {
        m_blocks.push_back(stage({capacity, width}, at::kInt, device));
        m_run.tables.push_back({.sequences = sequences,
                                .blocks = m_blocks.back().device,
                                .singles = {},
                                .prompts = {},
                                .mostKeys = mostKeys});
    }
}

bool DecodeStep::fits(const StepPlan& plan) {
    if (plan.rows.size() != plan.tokens.size() || plan.sequences.size() != plan.tokens.size())
        return false;
    for (std::size_t i = 0; i < plan.rows.size(); ++i)
        if (plan.rows[i] != static_cast<std::int64_t>(i) || plan.sequences[i].tokens != 1 ||
            plan.sequences[i].firstToken != static_cast<std::int64_t>(i))
            return false;
    return true;
}

void DecodeStep::fill(const StepPlan& plan) {
    const auto count = std::ssize(plan.tokens);
    auto* numbers = m_numbers.host.mutable_data_ptr<std::int64_t>();
    std::fill_n(numbers, 2 * m_capacity, 0);
    std::ranges::copy(plan.tokens, numbers);
    std::ranges::copy(plan.positions, numbers + m_capacity);
    m_numbers.device.copy_(m_numbers.host, /*non_blocking=*/true);
    for (std::size_t group = 0; group < m_blocks.size(); ++group) {
        const std::int64_t width = m_blocks[group].host.size(1);
        auto* blocks = m_blocks[group].host.mutable_data_ptr<std::int32_t>();
        std::fill_n(blocks, m_capacity * width, m_spare);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto& table = plan.sequences[static_cast<std::size_t>(i)].tables[group];
            std::copy_n(table.begin(), std::min<std::int64_t>(width, std::ssize(table)), blocks + i * width);
        }
        m_blocks[group].device.copy_(m_blocks[group].host, /*non_blocking=*/true);
    }
}

} // namespace workbench
