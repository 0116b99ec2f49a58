#pragma once

#include "core/support/result.h"
#include "runtime/engine/block_allocator.h"
#include "runtime/engine/model_runner.h"

#include <cstdint>

namespace workbench::benchmark {

/// How far two models are apart on the same tokens.
struct Agreement {
    double relativeError = 0; ///< largest difference of logits over the reference's largest logit
    std::int64_t tokens = 0;  ///< greedy ones that were compared
    std::int64_t equal = 0;   ///< of these
};

/// Computes a prompt of 24 made-up tokens and 16 greedy ones of the reference on both. Both models' caches
/// must be unused, with this layout.
Result<Agreement> compareModels(ModelRunner& reference, ModelRunner& other, const BlockLayout& layout);

} // namespace workbench::benchmark
