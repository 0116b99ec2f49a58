#pragma once

#include <cstdint>
#include <vector>

namespace workbench::benchmark {

/// One request of a load.
struct LoadRequest {
    double arrivalSeconds = 0; ///< after the start of the round
    std::vector<std::int64_t> prompt;
    std::int64_t newTokens = 1; ///< the first comes with the prompt; end tokens do not end the text
};

/// The work that every program does in one round, in order of arrival.
using Load = std::vector<LoadRequest>;

/// Sizes of a request whose tokens nobody cares about.
struct RequestSize {
    double arrivalSeconds = 0;
    std::int64_t promptTokens = 64;
    std::int64_t newTokens = 32;
};

/// Made-up prompts, different in every request and spread over the vocabulary, so that experts and embedding
/// rows are not always the same ones.
Load syntheticLoad(const std::vector<RequestSize>& sizes, std::int64_t vocabulary);

/// Longest sequence of the load, and all tokens of all requests.
std::int64_t longestTokens(const Load& load);
std::int64_t allTokens(const Load& load);

} // namespace workbench::benchmark
