#pragma once

#include "runtime/benchmark/load.h"
#include "runtime/worker/json_edge.h"

#include <cstdint>
#include <vector>

namespace workbench {

/// What a "bench" request asks for.
struct BenchWork {
    std::vector<benchmark::Load> loads; ///< one a round in turn
    std::int64_t rounds = 6;
};

/// Of a request's "rounds" and one of
///   "requests": [{"arrival_s", "prompt_tokens", "new_tokens"}]   in order of arrival
///   "prompts": [[...]], "new_tokens"                             token ids, one prompt a round in turn
///   "prompt_tokens", "new_tokens", "concurrency"                 so many alike at once
Result<BenchWork> benchWork(const Json& params, std::int64_t vocabulary);

} // namespace workbench
