#pragma once

#include "core/support/result.h"
#include "runtime/engine/step_plan.h"
#include "runtime/program/paged_kv_cache.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace workbench {

/// Keys that no token of the step sees more of, without windows.
std::int64_t mostKeys(const StepPlan& plan);

/// The blocks of a step's tokens as tensors of `device`, by layer group. A sequence with one token is looked
/// at by itself, one with several is a prompt (ops::PagedTables).
std::vector<ops::PagedTables> tablesFor(const StepPlan& plan, PagedKvCache& cache, c10::Device device);

/// A step in which every sequence has one token, in tensors that stay where they are: filled again and again,
/// so that what was recorded of a run can be replayed (RecordedStep). It has `capacity` tokens whatever the
/// plan has; those past the plan's write to the cache's spare block and mean nothing.
class DecodeStep {
public:
    /// For sequences of up to `mostKeys` tokens.
    DecodeStep(std::int64_t capacity, std::int64_t mostKeys, PagedKvCache& cache, c10::Device device);

    /// Whether the plan is such a step: one token for each sequence, and the logits of all of them, in order.
    static bool fits(const StepPlan& plan);

    void fill(const StepPlan& plan);
    const at::Tensor& tokens() const { return m_tokens; }       ///< int64 [1, capacity]
    const at::Tensor& positions() const { return m_positions; } ///< int64 [1, capacity]
    const at::Tensor& rows() const { return m_rows; }           ///< int64 [capacity]: 0, 1, ...
    PagedRun& run() { return m_run; }

private:
    struct Staged {
        at::Tensor
            host; ///< where numbers are written, in memory that the device reads while the host goes on
        at::Tensor device;
    };
    static Staged stage(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device);

    std::int64_t m_capacity;
    BlockId m_spare;
    Staged m_numbers;             ///< int64 [2, capacity]: tokens and positions
    std::vector<Staged> m_blocks; ///< int32 [capacity, blocks] of each layer group
    at::Tensor m_tokens, m_positions, m_rows;
    PagedRun m_run;
};

} // namespace workbench
