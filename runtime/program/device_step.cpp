#include "runtime/program/device_step.h"

#include "runtime/ops/prompt_lists.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>

namespace workbench {
namespace {

std::int64_t keysOf(const StepSequence& sequence) {
    return sequence.firstPosition + sequence.tokens;
}

/// `window`: keys that a query sees at most, itself included; 0: all.
void addPrompt(const StepSequence& sequence, const std::vector<BlockId>& blocks, std::int64_t blockTokens,
               std::int64_t window, ops::PromptLists& prompts) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(sequence.tokens));
    std::iota(tokens.begin(), tokens.end(), sequence.firstToken);
    const auto mask = window > 0 ? ops::MaskKind::Sliding : ops::MaskKind::Causal;
    const std::int64_t first = ops::visibleAt(mask, window, sequence.firstPosition).begin;
    prompts.add(tokens, {first, keysOf(sequence)}, blocks.data(), blockTokens);
}

} // namespace

std::int64_t mostKeys(const StepPlan& plan) {
    std::int64_t most = 0;
    for (const StepSequence& sequence : plan.sequences)
        most = std::max(most, keysOf(sequence));
    return most;
}

std::vector<ops::PagedTables> tablesFor(const StepPlan& plan, PagedKvCache& cache, c10::Device device) {
    const BlockLayout layout = cache.layout();
    const auto sequences = std::ssize(plan.sequences);
    std::vector<std::int32_t> sequenceOf(plan.tokens.size());
    std::vector<std::int64_t> singles;
    std::int64_t width = 1;
    for (std::int64_t i = 0; i < sequences; ++i) {
        const StepSequence& sequence = plan.sequences[static_cast<std::size_t>(i)];
        std::fill_n(sequenceOf.begin() + sequence.firstToken, sequence.tokens, static_cast<std::int32_t>(i));
        if (sequence.tokens == 1)
            singles.push_back(sequence.firstToken);
        for (const auto& table : sequence.tables)
            width = std::max<std::int64_t>(width, std::ssize(table));
    }
    const at::Tensor sequencesOnDevice = ops::onDevice(sequenceOf, device);
    std::vector<ops::PagedTables> all;
    for (std::size_t group = 0; group < layout.windows.size(); ++group) {
        std::vector<BlockId> blocks(static_cast<std::size_t>(sequences * width), kNoBlock);
        ops::PromptLists prompts;
        for (std::int64_t i = 0; i < sequences; ++i) {
            const StepSequence& sequence = plan.sequences[static_cast<std::size_t>(i)];
            std::ranges::copy(sequence.tables[group], blocks.begin() + i * width);
            if (sequence.tokens > 1)
                addPrompt(sequence, sequence.tables[group], layout.blockTokens, layout.windows[group],
                          prompts);
        }
        ops::PagedTables tables;
        tables.sequences = sequencesOnDevice;
        tables.blocks = ops::onDevice(blocks, device).view({sequences, width});
        tables.mostKeys = mostKeys(plan);
        if (!prompts.empty()) {
            tables.singles = ops::onDevice(singles, device);
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
