#pragma once

#include "core/graph/graph.h"
#include "fusion/site.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace workbench {

/// What ops move and start.
struct OpCost {
    std::int64_t bytes = 0;    ///< read from and written to memory
    std::int64_t launches = 0; ///< kernels
    bool operator==(const OpCost&) const = default;
};

/// An estimate of what a rewrite is worth, from shapes alone.
///
///     bytes    = sum over ops of (bytes of each tensor that the op reads, once) + (bytes of those it makes)
///     launches = number of ops
///
/// An op that only looks at memory in another way (view, reshape, transpose, slice, split, expand, ...) moves
/// and starts nothing; what reads an expanded tensor reads the tensor before it was expanded. Nothing is kept
/// in a cache from one op to the next, so the bytes are an upper bound: small models whose activations fit
/// into a cache save launches rather than traffic.
struct SiteGain {
    OpCost before; ///< the nodes that the rewrite removes
    OpCost after;  ///< those that take over
    std::int64_t bytesSaved() const { return before.bytes - after.bytes; }
    std::int64_t launchesSaved() const { return before.launches - after.launches; }
    bool operator==(const SiteGain&) const = default;
};

/// One entry per site of `analysis`, which is that of `canonical`; nullopt for sites that are not applicable.
/// Every symbol of the graph stands for `tokens`. Each site is taken alone, as if nothing else were applied.
std::vector<std::optional<SiteGain>> estimateGains(const Graph& canonical, const Analysis& analysis,
                                                   std::int64_t tokens);

} // namespace workbench
