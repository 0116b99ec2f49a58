#pragma once

#include "core/support/result.h"
#include "runtime/engine/step_plan.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace workbench {

/// A model with a paged KV cache, as the engine sees it. Called from the engine's thread only.
class ModelRunner {
public:
    virtual ~ModelRunner() = default;

    /// Stores the keys and values of the plan's tokens in their blocks and returns the wanted logits, f32
    /// [plan.rows, vocabulary], valid until the next call. Looks at `abort` now and then and returns
    /// ErrorCode::cancelled when it is set. After any Error the step's blocks may hold anything.
    virtual Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) = 0;

    virtual std::int64_t vocabulary() const = 0;
};

} // namespace workbench
