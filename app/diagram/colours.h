#pragma once

#include "app/diagram/diagram.h"
#include "fusion/fusion.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// The colour of a pattern: its rank in patterns(). -1: no such pattern.
std::int32_t colourSlot(std::string_view pattern);

/// What a node has to do with fusion.
struct NodeMark {
    enum class State {
        none,
        refused,  ///< the root of a near miss
        offered,  ///< may be rewritten, not decided
        rejected, ///< the user does not want it
        present,  ///< fused already in the traced graph
        applied,
    } state = State::none;
    std::int32_t slot = -1;
    std::int32_t site = -1; ///< index into Analysis::sites
    bool operator==(const NodeMark&) const = default;
};

/// Marks by node id. A node of several sites has the mark of the strongest state, then of the first site.
std::vector<NodeMark> markCanonical(const Graph& canonical, const Analysis& analysis,
                                    const std::vector<SiteOutcome>& outcomes);
std::vector<NodeMark> markRewritten(const Rewritten& rewritten, const Analysis& analysis);

/// How much of a box each mark covers: number of sites by slot and state.
struct BoxMark {
    std::int32_t slot = -1;
    NodeMark::State state = NodeMark::State::none;
    std::int64_t sites = 0;
    bool operator==(const BoxMark&) const = default;
};
/// By slot, then strongest state first.
std::vector<BoxMark> marksOf(const Box& box, const std::vector<NodeMark>& marks);

} // namespace workbench
