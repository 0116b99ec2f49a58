#include "core/graph/op_classes.h"
#include "fusion/experts.h"
#include "fusion/match/dimension.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"

#include <algorithm>
#include <optional>

/// moe-router:  p = softmax(logits),  (w, e) = top_k(p),  [w = w / sum(w)];  or (l, e) = top_k(logits), w =
/// softmax(l)
///
///     logits --> softmax in f32 --> topk --> [/ sum] --> [cast] --> weights        (Mixtral, Qwen3-MoE)
///                                     `--> indices
///     logits --> topk --> softmax --> [cast] --> weights                           (GraniteMoE, GPT-OSS)
///     becomes   logits --> workbench.moe_route --> weights, indices
///
/// The place is what makes the indices that pick experts (experts.h). Order, renormalisation and casts are
/// read from the graph; what is done to the weights afterwards (another division, a scale) stays. Refused:
/// sigmoid scores, scores with a bias or a mask over groups, weights that are looked up again, a softmax
/// that is rounded before the selection.

namespace workbench {
namespace {

/// The node that chooses the experts of a block: what the indices are, seen through other arrangements.
NodeId chooser(const GraphView& view, const ExpertBlock& block) {
    ValueId value = block.indices;
    while (view.producerOp(value) == "aten.reshape" || view.producerOp(value) == "aten.unsqueeze" ||
           view.producerOp(value) == "aten.squeeze")
        value = operand(view.node(view.producer(value)), "self");
    const NodeId node = view.producer(value);
    return node == kNone ? block.gathers.front() : node;
}

std::vector<NodeId> routerPlaces(const MatchContext& context) {
    std::vector<NodeId> places;
    for (const ExpertBlock& block : expertBlocks(context.view())) {
        const NodeId node = chooser(context.view(), block);
        if (std::find(places.begin(), places.end(), node) == places.end())
            places.push_back(node);
    }
    return places;
}

bool runsOverLast(const GraphView& view, NodeId node, std::string_view name, std::int64_t otherwise) {
    const auto rank = view.meta(operands(view.node(node)).front()).shape.size();
    const auto dim = dimension(argument(view.node(node), name), rank, otherwise);
    return dim && *dim + 1 == rank;
}

/// An argument that is true unless it says otherwise.
bool isOn(const ArgumentValue* value) {
    const auto* given = value ? std::get_if<bool>(value) : nullptr;
    return !given || *given;
}

bool matchSelection(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const Node& node = view.node(place);
    if (!search.require(view.op(place) == "aten.topk", place, "the experts are those of the top k scores",
                        [&] { return node.op; }))
        return false;
    const auto k = integer(argument(node, "k"));
    if (!search.require(k && *k > 0 && runsOverLast(view, place, "dim", -1) &&
                            isOn(argument(node, "largest")),
                        place, "the k largest along the last dim, k a constant", [&] {
                            return "k=" + describe(view.graph(), argument(node, "k")) +
                                   ", dim=" + describe(view.graph(), argument(node, "dim")) +
                                   ", largest=" + describe(view.graph(), argument(node, "largest"));
                        }))
        return false;
    search.take(place);
    search.role("top_k", place);
    search.fact("top_k", *k);
    search.fact("sorted", isOn(argument(node, "sorted")));
    search.capture("indices", node.outputs[1]);
    return true;
}

/// A softmax over the last dim that nothing but `user` reads.
bool isScore(const GraphView& view, NodeId node) {
    return node != kNone && isSoftmax(view.op(node)) && runsOverLast(view, node, "dim", -1);
}

/// The value before a cast to a wider floating type, which goes where nothing else reads it.
ValueId narrowed(Search& search, ValueId value) {
    const GraphView& view = search.view();
    if (view.producerOp(value) != "aten._to_copy")
        return value;
    const ValueId self = operand(view.node(view.producer(value)), "self");
    const ScalarType from = view.meta(self).dtype;
    if (!isFloatingPoint(from) || bytesPerElement(from) >= bytesPerElement(view.meta(value).dtype))
        return value;
    search.takeIfFree(view.producer(value));
    return self;
}

/// softmax, then top k. Captures logits and the selected scores.
bool matchScored(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const ValueId scores = operand(view.node(place), "self");
    const NodeId softmax = view.producer(scores);
    if (!search.require(isScore(view, softmax), place,
                        "the scores are a softmax over all experts, before or after the selection",
                        [&] { return view.describe(scores); }) ||
        !search.require(view.meta(scores).dtype == ScalarType::f32, softmax,
                        "the scores are f32 when the experts are selected",
                        [&] { return std::string(name(view.meta(scores).dtype)); }))
        return false;
    search.take(softmax);
    search.role("softmax", softmax);
    search.fact("order", std::string("softmax_first"));
    search.capture("logits", narrowed(search, operands(view.node(softmax)).front()));
    search.capture("weights", view.result(place));
    return true;
}

/// top k of the logits, then softmax over the selected ones.
bool matchSelectedFirst(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const NodeId softmax = view.onlyUser(view.result(place));
    if (!isScore(view, softmax))
        return false;
    const ScalarType computed = view.meta(view.result(softmax)).dtype;
    // A softmax that is asked for a narrower dtype rounds its input first; the op rounds its result.
    if (!search.require(computed == ScalarType::f32 || computed == view.meta(view.result(place)).dtype,
                        softmax, "the softmax has the dtype of the logits or f32",
                        [&] { return std::string(name(computed)); }))
        return false;
    search.take(softmax);
    search.role("softmax", softmax);
    search.fact("order", std::string("top_k_first"));
    search.capture("logits", narrowed(search, operand(view.node(place), "self")));
    search.capture("weights", view.result(softmax));
    return true;
}

/// weights / sum(weights) over the selected experts, when the weights are read by nothing else.
NodeId renormalisation(Search& search, ValueId weights) {
    const GraphView& view = search.view();
    const auto uses = view.uses(weights);
    if (uses.size() != 2)
        return kNone;
    NodeId sum = kNone, quotient = kNone;
    for (const Use& use : uses) {
        if (use.node != kNone && view.op(use.node) == "aten.sum")
            sum = use.node;
        else if (use.node != kNone && view.op(use.node) == "aten.div")
            quotient = use.node;
    }
    if (sum == kNone || quotient == kNone)
        return kNone;
    const Node& total = view.node(sum);
    const auto dims = integers(argument(total, "dim"));
    const std::size_t rank = view.meta(weights).shape.size();
    const bool overSelected =
        dims && dims->size() == 1 && wrapDim(dims->front(), rank) + 1 == static_cast<std::int64_t>(rank) &&
        argument(total, "keepdim") && isOn(argument(total, "keepdim")) && isAbsent(argument(total, "dtype"));
    const Node& division = view.node(quotient);
    const bool plain = operand(division, "self") == weights &&
                       operand(division, "other") == view.result(sum) &&
                       isAbsent(argument(division, "rounding_mode"));
    if (!overSelected || !plain || view.meta(weights).dtype != ScalarType::f32)
        return kNone;
    search.take(sum);
    search.take(quotient);
    return quotient;
}

bool matchRouter(Search& search, NodeId place) {
    const GraphView& view = search.view();
    if (matchPresent(search, place, "route", "moe-router"))
        return true;
    if (!matchSelection(search, place) || !(matchSelectedFirst(search, place) || matchScored(search, place)))
        return false;
    ValueId weights = search.value("weights");
    const bool first = search.match().fact<std::string>("order", "") == "softmax_first";
    const NodeId quotient = first ? renormalisation(search, weights) : kNone;
    if (quotient != kNone)
        weights = view.result(quotient);
    search.fact("renormalize", quotient != kNone);
    const NodeId cast = view.onlyUser(weights);
    const ScalarType computed = view.meta(weights).dtype;
    if (cast != kNone && view.op(cast) == "aten._to_copy" && computed == ScalarType::f32) {
        search.take(cast);
        weights = view.result(cast);
    }
    const ScalarType logits = view.meta(search.value("logits")).dtype;
    const std::size_t rank = view.meta(search.value("logits")).shape.size();
    if (!search.require(rank == 2, place, "the logits are [tokens, experts]",
                        [&] { return std::to_string(rank) + " dims"; }))
        return false;
    if (!search.require(isFloatingPoint(view.meta(weights).dtype) && isFloatingPoint(logits) &&
                            logits != ScalarType::f64,
                        place, "logits and weights are floating-point numbers of at most 32 bits",
                        [&] { return std::string(name(logits)); }))
        return false;
    search.capture("result", weights);
    search.output(weights);
    search.output(search.value("indices"));
    return true;
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    const GraphView& view = context.view();
    const ValueId weights = match.value("result");
    replacement.locateAt(match.root);
    replacement.add("workbench.moe_route",
                    {tensor("logits", match.value("logits")),
                     integer("top_k", SymInt(match.fact<std::int64_t>("top_k", 0))),
                     text("order", match.fact<std::string>("order", "")),
                     {"renormalize", match.fact<bool>("renormalize", false)},
                     {"sorted", match.fact<bool>("sorted", true)},
                     {"dtype", view.meta(weights).dtype}},
                    {weights, match.value("indices")});
}

} // namespace

Pattern moeRouter() {
    return {.name = "moe-router",
            .summary = "softmax, selection and renormalisation that choose the experts of a mixture",
            .formula = "(w, e) = top_k(softmax(logits)), w / sum(w);  or top_k first, then softmax",
            .sketch = "logits -> softmax -> topk -> [/ sum] -> [cast] -> weights\n"
                      "                       `-> indices\n"
                      "logits -> moe_route -> weights, indices",
            .explanation = "Five small ops per layer become one pass over the logits of each token. "
                           "Softmax before the selection (Mixtral, Qwen3-MoE, OLMoE) or after it "
                           "(GraniteMoE, GPT-OSS), renormalised or not, rounded or not, as the graph has "
                           "it; what is done to the weights afterwards stays in the graph.",
            .refuses = "sigmoid scores, scores with a bias or a mask over groups (DeepSeek-V3), a softmax "
                       "that is rounded before the selection",
            .op = "workbench.moe_route",
            .counted = Counted::experts,
            .places = routerPlaces,
            .match = matchRouter,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
