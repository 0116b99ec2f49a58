#include "fusion/rewrite/gain.h"

#include "core/graph/op_classes.h"
#include "fusion/match/find.h"

#include <set>

namespace workbench {
namespace {

class Counter {
public:
    Counter(const GraphView& view, std::int64_t tokens) : m_view(view) {
        for (const Value& value : view.graph().values)
            for (const SymInt& size : value.meta.shape)
                for (std::string& symbol : size.symbols())
                    m_bindings.emplace(std::move(symbol), tokens);
    }

    OpCost of(const std::vector<NodeId>& nodes) const {
        OpCost cost;
        for (const NodeId id : nodes) {
            if (isView(m_view.op(id)))
                continue;
            ++cost.launches;
            std::set<ValueId> read;
            for (const ValueId value : operands(m_view.node(id)))
                read.insert(unexpanded(value));
            for (const ValueId value : read)
                cost.bytes += bytes(m_view.meta(value));
            for (const ValueId value : m_view.node(id).outputs)
                cost.bytes += bytes(m_view.meta(value));
        }
        return cost;
    }

    OpCost of(const Replacement& replacement) const {
        OpCost cost;
        const auto known = static_cast<ValueId>(m_view.graph().values.size());
        for (const Replacement::MadeNode& node : replacement.nodes()) {
            if (isView(baseName(node.op)))
                continue;
            ++cost.launches;
            std::set<ValueId> read;
            for (const ValueId value : operands(Node{node.op, node.arguments, {}, kNone, kNone, {}}))
                read.insert(value < known ? unexpanded(value) : value);
            for (const ValueId value : read)
                cost.bytes += bytes(replacement.meta(value));
            for (const ValueId value : node.outputs)
                cost.bytes += bytes(replacement.meta(value));
        }
        return cost;
    }

private:
    ValueId unexpanded(ValueId value) const {
        while (m_view.producerOp(value) == "aten.expand")
            value = operand(m_view.node(m_view.producer(value)), "self");
        return value;
    }

    /// A size that cannot be evaluated counts as nothing.
    std::int64_t bytes(const TensorMeta& meta) const {
        auto count = static_cast<std::int64_t>(bytesPerElement(meta.dtype));
        for (const SymInt& size : meta.shape) {
            const auto known =
                size.isConstant() ? Result<std::int64_t>(size.constant()) : size.evaluate(m_bindings);
            count *= known ? *known : 0;
        }
        return count;
    }

    const GraphView& m_view;
    SymbolBindings m_bindings;
};

} // namespace

std::vector<std::optional<SiteGain>> estimateGains(const Graph& canonical, const Analysis& analysis,
                                                   std::int64_t tokens) {
    const MatchContext context(canonical);
    const Counter counter(context.view(), tokens);
    std::vector<std::optional<SiteGain>> gains;
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        gains.emplace_back();
        if (analysis.sites[i].verdict != SiteVerdict::applicable)
            continue;
        const Found& found = analysis.matches->found[i];
        Replacement replacement(canonical, static_cast<ValueId>(canonical.values.size()), found.match.root);
        found.pattern->build(context, found.match, replacement);
        gains.back() = SiteGain{counter.of(found.match.nodes), counter.of(replacement)};
    }
    return gains;
}

} // namespace workbench
