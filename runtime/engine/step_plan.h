#pragma once

#include "runtime/engine/block_pool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

/// Increases in order of arrival.
using RequestId = std::uint64_t;

/// Consecutive tokens of one sequence in a step.
struct StepSequence {
    RequestId id = 0;
    std::int64_t firstToken = 0; ///< index in StepPlan::tokens
    std::int64_t tokens = 0;
    std::int64_t firstPosition = 0; ///< tokens before it are stored in the blocks
    std::int64_t row = -1;          ///< of the logits; -1: the sequence has more tokens to compute first
    /// Block tables by layer group (see BlockAllocator), with room for these tokens. They belong to the
    /// scheduler and are valid until it is called again.
    std::span<const std::vector<BlockId>> tables;
};

/// What the model computes in one step: tokens of several sequences side by side.
struct StepPlan {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> positions; ///< one for each token
    std::vector<StepSequence> sequences; ///< in order of arrival
    std::vector<std::int64_t> rows;      ///< indices of the tokens whose logits are wanted

    bool empty() const { return tokens.empty(); }
};

} // namespace workbench
