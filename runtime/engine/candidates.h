#pragma once

#include "runtime/engine/logit_blocks.h"
#include "runtime/engine/sampling_params.h"

#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

struct Candidate {
    std::int64_t token = 0;
    double weight = 0; ///< probability times a number that is the same for all candidates
};

/// The tokens that temperature (more than 0), top-k, top-p and min-p leave, in an order that depends on the
/// logits alone. `logits` are valid ones, after the penalties.
std::vector<Candidate> candidates(const LogitBlocks& logits, const SamplingParams& params);

/// The candidate in whose share of the sum of all weights `uniform`, in [0, 1), falls.
std::int64_t pick(std::span<const Candidate> candidates, double uniform);

/// What pick() takes of candidates(), without a list of them where every token is one.
std::int64_t draw(const LogitBlocks& logits, const SamplingParams& params, double uniform);

} // namespace workbench
