#include "runtime/program/frame_plan.h"

#include <algorithm>

namespace workbench {
namespace {

using Memory = DirectCall::Memory;

std::size_t at(ValueId id) {
    return static_cast<std::size_t>(id);
}

/// By ValueId: something looks at the value through a view.
std::vector<bool> viewed(const Graph& graph, const std::vector<BoundNode>& nodes) {
    std::vector<bool> seen(graph.values.size());
    for (const BoundNode& node : nodes)
        if (node.direct && node.direct.memory == Memory::shared)
            for (const ValueId id : node.inputs())
                seen[at(id)] = true;
    return seen;
}

/// By ValueId: nothing but direct calls reads the value or a view of it.
std::vector<bool> readByDirectCallsAlone(const Graph& graph, const std::vector<BoundNode>& nodes) {
    std::vector<bool> alone(graph.values.size(), true);
    for (const ValueId id : graph.outputs)
        alone[at(id)] = false;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const bool harmless =
            node->direct && (node->direct.memory != Memory::shared ||
                             std::ranges::all_of(node->outputs, [&](ValueId id) { return alone[at(id)]; }));
        if (!harmless)
            for (const ValueId id : node->inputs())
                alone[at(id)] = false;
    }
    return alone;
}

bool hasKnownSize(const TensorMeta& meta, const std::vector<std::string>& known) {
    return std::ranges::all_of(meta.shape, [&](const SymInt& size) {
        return std::ranges::all_of(size.symbols(), [&](const std::string& symbol) {
            return std::ranges::find(known, symbol) != known.end();
        });
    });
}

/// What a run drops after the node.
std::vector<ValueId> dropsOf(const BoundNode& node, const std::vector<std::int32_t>& root) {
    std::vector<ValueId> drop;
    const auto add = [&](ValueId id) {
        if (root[at(id)] == kNone)
            drop.push_back(id);
    };
    if (node.direct) // the dispatcher's stack takes them otherwise
        for (const BoundNode::Slot& slot : node.slots)
            for (std::size_t i = 0; i < slot.values.size(); ++i)
                if (slot.last[i])
                    add(slot.values[i]);
    for (const ValueId id : node.unused)
        add(id);
    return drop;
}

} // namespace

FramePlan planFrame(const Graph& graph, const std::vector<BoundNode>& nodes,
                    const std::vector<std::string>& knownSymbols) {
    const std::vector<bool> alone = readByDirectCallsAlone(graph, nodes);
    const std::vector<bool> isViewed = viewed(graph, nodes);
    const auto staysIn = [&](ValueId id) {
        return alone[at(id)] && hasKnownSize(graph.value(id).meta, knownSymbols);
    };
    FramePlan plan;
    plan.root.assign(graph.values.size(), kNone);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const BoundNode& node = nodes[i];
        const auto step = static_cast<std::int32_t>(i);
        std::int32_t read = kNone;
        for (const ValueId id : node.inputs())
            if (const std::int32_t root = id == kNone ? kNone : plan.root[at(id)]; root != kNone) {
                plan.roots[static_cast<std::size_t>(root)].last = step;
                read = root;
            }
        if (node.direct && node.direct.memory == Memory::shared && read != kNone) {
            for (const ValueId id : node.outputs)
                plan.root[at(id)] = read;
            plan.views.push_back(step);
            continue;
        }
        FramePlan::Step& next = plan.steps.emplace_back(FramePlan::Step{step, {}, {}});
        if (node.direct && node.direct.memory == Memory::given &&
            std::ranges::all_of(node.outputs, staysIn)) {
            for (const ValueId id : node.outputs) {
                plan.root[at(id)] = static_cast<std::int32_t>(plan.roots.size());
                plan.roots.push_back({id, step, step});
            }
        } else if (!node.direct) {
            for (const ValueId id : node.outputs)
                if (staysIn(id) && !isViewed[at(id)] &&
                    std::ranges::find(node.unused, id) == node.unused.end()) {
                    next.adopt.push_back(static_cast<std::int32_t>(plan.adopted.size()));
                    plan.adopted.push_back(id);
                }
        }
        next.drop = dropsOf(node, plan.root);
    }
    return plan;
}

} // namespace workbench
