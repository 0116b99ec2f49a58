#include "fusion/patterns/attention_scores.h"

#include "fusion/match/context.h"

namespace workbench {
namespace {

/// Takes the node that makes the value and steps to one of its operands.
ValueId through(Search& search, ValueId value, std::string_view operandName = "self") {
    const NodeId node = search.view().producer(value);
    search.take(node);
    return operand(search.view().node(node), operandName);
}

/// From the softmax's input down to what the softcap or scale made.
bool matchMasking(Search& search, ValueId& value, Scores& scores) {
    const GraphView& view = search.view();
    const NodeId node = view.producer(value);
    const std::string_view op = view.producerOp(value);
    if (op == "aten.add" && operand(view.node(node), "other") != kNone) {
        const ValueId self = operand(view.node(node), "self"), other = operand(view.node(node), "other");
        const bool maskFirst = !comesFromScores(view, self);
        if (!search.require(
                isAbsent(argument(view.node(node), "alpha")), node, "a mask without a factor",
                [&] { return "alpha=" + describe(view.graph(), argument(view.node(node), "alpha")); }) ||
            !matchMask(search, node, maskFirst ? self : other, false, scores))
            return false;
        value = through(search, value, maskFirst ? "other" : "self");
    } else if (op == "aten.masked_fill" || op == "aten.where") {
        const bool fill = op == "aten.masked_fill";
        const auto number = workbench::number(argument(view.node(node), fill ? "value" : "other"));
        if (!search.require(number && *number <= -1e4, node, "masked scores are a large negative number",
                            [&] {
                                return describe(view.graph(),
                                                argument(view.node(node), fill ? "value" : "other"));
                            }) ||
            !matchMask(search, node, operand(view.node(node), fill ? "mask" : "condition"), fill, scores))
            return false;
        value = through(search, value);
    }
    return true;
}

/// A factor by a number on the way; other values stay.
bool scaled(Search& search, ValueId& value, double& factor) {
    const GraphView& view = search.view();
    const std::string_view op = view.producerOp(value);
    const bool rounded = !op.empty() && !isAbsent(argument(view.node(view.producer(value)), "rounding_mode"));
    const auto by = !rounded && (op == "aten.mul" || op == "aten.div")
                        ? number(argument(view.node(view.producer(value)), "other"))
                        : std::nullopt;
    if (!by || *by == 0)
        return false;
    factor = op == "aten.mul" ? factor * *by : factor / *by;
    value = through(search, value);
    return true;
}

} // namespace

bool matchMask(Search& search, NodeId at, ValueId mask, bool inverted, Scores& scores) {
    const auto proven = proveMask(search.view(), mask, inverted);
    if (!search.require(proven.has_value(), at, "the mask is proven to be causal, a sliding window or none",
                        [&] { return search.view().describe(mask); }))
        return false;
    scores.mask = *proven;
    return true;
}

bool matchScores(Search& search, ValueId& value, Scores& scores) {
    const GraphView& view = search.view();
    const auto skipCasts = [&] {
        while (isHarmlessCast(search, view.producer(value)))
            value = through(search, value);
    };
    skipCasts();
    if (!matchMasking(search, value, scores))
        return false;
    skipCasts();
    double factor = 1;
    while (scaled(search, value, factor))
        skipCasts();
    if (view.producerOp(value) == "aten.tanh") {
        scores.softcap = factor;
        factor = 1;
        value = through(search, value);
        while (scaled(search, value, factor))
            skipCasts();
        factor *= scores.softcap; // the division by the cap is part of the cap
    }
    scores.scale = factor;
    return search.requireOp(value, "aten.matmul", search.root(),
                            "the scores are scale * q k^T, then a softcap, then a mask");
}

bool isHarmlessCast(const Search& search, NodeId node) {
    const GraphView& view = search.view();
    if (node == kNone || view.op(node) != "aten._to_copy")
        return false;
    const ScalarType own = view.meta(search.context().attention(search.root())->query).dtype;
    const auto keeps = [own](ScalarType type) {
        return type == own || (isFloatingPoint(type) && bytesPerElement(type) > bytesPerElement(own));
    };
    return keeps(view.meta(view.result(node)).dtype) &&
           keeps(view.meta(operand(view.node(node), "self")).dtype);
}

} // namespace workbench
