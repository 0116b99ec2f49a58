#pragma once

#include "fusion/match/search.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace workbench {

/// One attention, however it is spelled: where its operands come from.
struct AttentionPlace {
    NodeId node = kNone; ///< the op, or the softmax
    ValueId query = kNone, key = kNone, value = kNone;
    bool fused = false; ///< one op (workbench.attention, scaled_dot_product_attention)
};

/// A graph and what several patterns want to know of it; each part is computed when first asked for.
class MatchContext {
public:
    explicit MatchContext(const Graph& graph) : m_view(graph) {}
    MatchContext(const MatchContext&) = delete;

    const GraphView& view() const { return m_view; }
    /// The match of a smaller pattern ("rms-norm") whose first output the value is; nullptr when there is
    /// none.
    const Match* maker(std::string_view pattern, ValueId output) const;
    const std::vector<AttentionPlace>& attentions() const;
    /// The attention whose node this is; nullptr when there is none.
    const AttentionPlace* attention(NodeId node) const;
    /// The one projection (aten.linear) that the value is computed from, other inputs not counted; kNone for
    /// none.
    NodeId projection(ValueId value) const;
    static constexpr NodeId kSeveral = -2; ///< projection(): more than one

private:
    using Makers = std::unordered_map<ValueId, Match>;
    GraphView m_view;
    mutable std::unordered_map<std::string_view, Makers> m_makers; ///< by the pattern's name
    mutable std::optional<std::vector<AttentionPlace>> m_attentions;
    mutable std::vector<NodeId> m_projections;
};

/// True when a spelled-out attention's product of query and key is what the value comes from, a mask not
/// being so.
bool comesFromScores(const GraphView& view, ValueId value);

/// The usual Pattern::places of what belongs to an attention.
std::vector<NodeId> attentionPlaces(const MatchContext& context);

} // namespace workbench
