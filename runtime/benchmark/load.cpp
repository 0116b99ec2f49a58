#include "runtime/benchmark/load.h"

#include <algorithm>

namespace workbench::benchmark {
namespace {

std::int64_t lengthOf(const LoadRequest& request) {
    return static_cast<std::int64_t>(request.prompt.size()) + request.newTokens;
}

} // namespace

Load syntheticLoad(const std::vector<RequestSize>& sizes, std::int64_t vocabulary) {
    Load load;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        LoadRequest request{sizes[i].arrivalSeconds, {}, sizes[i].newTokens};
        for (std::int64_t at = 0; at < sizes[i].promptTokens; ++at)
            request.prompt.push_back((at * 7919 + static_cast<std::int64_t>(i) * 104729 + 11) % vocabulary);
        load.push_back(std::move(request));
    }
    return load;
}

std::int64_t longestTokens(const Load& load) {
    std::int64_t longest = 0;
    for (const LoadRequest& request : load)
        longest = std::max(longest, lengthOf(request));
    return longest;
}

std::int64_t allTokens(const Load& load) {
    std::int64_t all = 0;
    for (const LoadRequest& request : load)
        all += lengthOf(request);
    return all;
}

} // namespace workbench::benchmark
