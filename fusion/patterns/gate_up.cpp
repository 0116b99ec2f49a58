#include "core/graph/op_classes.h"
#include "fusion/coverage.h"
#include "fusion/patterns/activations.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"
#include "fusion/patterns/projections.h"

#include <algorithm>

/// gate-up:  y = act(x Wg^T + bg) * (x Wu^T + bu)
///
///     x --> linear gate --> act --> * --> y
///     x --> linear up -------------'
///     becomes   x --> linear gate_up --> workbench.act_and_mul --> y
///
/// The place is the activation, whether a module or a function made it. Refused: an activation without a
/// kernel, a gate that is scaled or clamped on the way, gate and up from one projection or of different
/// inputs, values in between that something else reads.

namespace workbench {
namespace {

/// The product that the activated value alone goes into; kNone when there is none.
NodeId productOf(const GraphView& view, NodeId activation) {
    const NodeId user = view.onlyUser(view.result(activation));
    return user != kNone && view.op(user) == "aten.mul" ? user : kNone;
}

bool isProjected(const GraphView& view, NodeId activation) {
    const auto inputs = operands(view.node(activation));
    return inputs.size() == 1 && view.producerOp(inputs.front()) == "aten.linear";
}

/// Activations of a projection whose result is multiplied; of a block that has none, its first activation, to
/// say why.
std::vector<NodeId> gatePlaces(const MatchContext& context) {
    const GraphView& view = context.view();
    std::vector<NodeId> places;
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (isActivation(view.op(id)) && isProjected(view, id) && productOf(view, id) != kNone)
            places.push_back(id);
        else if (isFusedOp(view.op(id), "gate-up"))
            places.push_back(id);
    }
    std::vector<NodeId> missing;
    for (const FeedForwardBlock& block : feedForwardBlocks(view)) {
        const bool told =
            std::any_of(block.activations.begin(), block.activations.end(), [&](NodeId activation) {
                return std::binary_search(places.begin(), places.end(), activation);
            });
        if (!told)
            missing.push_back(block.activations.front());
    }
    places.insert(places.end(), missing.begin(), missing.end());
    return places;
}

bool matchGateUp(Search& search, NodeId place) {
    if (matchPresent(search, place, "act", "gate-up"))
        return true;
    const GraphView& view = search.view();
    const Node& activation = view.node(place);
    const ValueId gate = operands(activation).front();
    const NodeId product = productOf(view, place);
    if (!search.requireOp(gate, "aten.linear", place, "the activation reads a projection of its own") ||
        !search.require(product != kNone, place,
                        "the activated value is only multiplied by another projection", [&] {
                            const NodeId user = view.onlyUser(view.result(place));
                            return user == kNone ? std::string("it has several users")
                                                 : "it goes into " + view.node(user).op;
                        }))
        return false;
    const ValueId up = otherOperand(view, product, view.result(place));
    const std::string kernel = activationKernel(activation);
    if (!search.requireOp(up, "aten.linear", product, "the other factor is a projection") ||
        !search.require(up != gate, product, "gate and up are two projections",
                        [&] { return view.describe(up) + (up == gate ? " is both" : ""); }) ||
        !search.require(!kernel.empty(), place, kActivationWithKernel, [&] { return activation.op; }) ||
        !search.require(
            view.meta(up) == view.meta(gate) && view.meta(view.result(product)) == view.meta(gate), product,
            "gate, up and their product have one shape and dtype", [&] { return view.describe(up); }) ||
        !matchProjections(search, {{"gate", view.producer(gate)}, {"up", view.producer(up)}}))
        return false;
    search.take(place);
    search.take(product);
    search.role("act", place);
    search.role("mul", product);
    search.fact("activation", kernel);
    search.capture("y", view.result(product));
    search.output(view.result(product));
    return true;
}

/// The module that multiplies, or the feed-forward block when nothing does.
std::string_view blockModule(const MatchContext& context, NodeId place) {
    const Graph& graph = context.view().graph();
    const NodeId product =
        isFusedOp(context.view().op(place), "gate-up") ? place : productOf(context.view(), place);
    return product == kNone ? feedForwardModule(graph.modulePath(place)) : graph.modulePath(product);
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    replacement.locateAt(context.view().producer(match.value("y")));
    const ValueId merged = buildMerged(context, match, {"gate", "up"}, "gate_up_proj", replacement);
    replacement.add(
        "workbench.act_and_mul",
        {tensor("gate_up", merged), text("activation", match.fact<std::string>("activation", ""))},
        {match.value("y")});
}

} // namespace

Pattern gateUp() {
    return {.name = "gate-up",
            .summary = "the two projections of a gated feed-forward block, its activation and product",
            .formula = "y = act(x Wg^T + bg) * (x Wu^T + bu)",
            .sketch = "x -> linear gate -> act -> * -> y\n"
                      "x -> linear up ----------'\n"
                      "x -> linear gate_up -> act_and_mul -> y",
            .explanation = "The two products of a gated feed-forward block become one, and activation "
                           "and multiplication one pass over its result. Seen in Llama, Qwen, Gemma "
                           "and Mistral; the activation may be a module or a function: silu, gelu, "
                           "gelu with tanh, relu, sigmoid.",
            .refuses = "another activation, a gate that is scaled or clamped first, gate and up from "
                       "one projection (packed already) or of different inputs, a bias on one only, a "
                       "value in between that something else reads",
            .op = "workbench.act_and_mul",
            .counted = Counted::feedForwardBlocks,
            .places = gatePlaces,
            .match = matchGateUp,
            .module = blockModule,
            .build = build};
}

} // namespace workbench
