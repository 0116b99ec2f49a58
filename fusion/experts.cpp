#include "fusion/experts.h"

#include <algorithm>

namespace workbench {
namespace {

bool isExpertWeight(const GraphView& view, ValueId value) {
    return value != kNone && view.isParameter(value) && view.meta(value).shape.size() == 3;
}

/// A weight that is read as it is, or turned.
ValueId unturned(const GraphView& view, ValueId value) {
    const bool turned =
        view.producerOp(value) == "aten.transpose" || view.producerOp(value) == "aten.permute";
    return turned ? operand(view.node(view.producer(value)), "self") : value;
}

/// The values that choose the experts of this node; kNone when it does not choose any.
ValueId chosenBy(const GraphView& view, NodeId id) {
    const Node& node = view.node(id);
    const std::string_view op = view.op(id);
    if (op == "workbench.moe_experts")
        return operand(node, "indices");
    if (op == "aten.index_select" && isExpertWeight(view, operand(node, "self")))
        return operand(node, "index");
    if (op == "aten.index" && isExpertWeight(view, operand(node, "self"))) {
        const ArgumentValue* given = argument(node, "indices");
        const auto* indices = given ? std::get_if<std::vector<ValueRef>>(given) : nullptr;
        return indices && !indices->empty() ? indices->front().id : kNone;
    }
    if (op.find("grouped_mm") == std::string_view::npos)
        return kNone;
    const auto inputs = operands(node);
    const bool weighted = std::any_of(inputs.begin(), inputs.end(), [&](ValueId value) {
        return isExpertWeight(view, unturned(view, value));
    });
    return weighted ? operand(node, "offs") : kNone;
}

} // namespace

std::vector<ExpertBlock> expertBlocks(const GraphView& view) {
    std::vector<ExpertBlock> blocks;
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        const ValueId indices = chosenBy(view, id);
        if (indices == kNone)
            continue;
        // Blocks that share a router are told apart by their module.
        const auto sameChoice = [&](const ExpertBlock& block) {
            return block.indices == indices && view.op(block.gathers.front()) == view.op(id) &&
                   view.graph().modulePath(block.gathers.front()) == view.graph().modulePath(id);
        };
        const auto known = std::find_if(blocks.begin(), blocks.end(), sameChoice);
        if (known == blocks.end())
            blocks.push_back({indices, {id}});
        else
            known->gathers.push_back(id);
    }
    return blocks;
}

} // namespace workbench
