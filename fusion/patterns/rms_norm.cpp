#include "fusion/patterns/rms_norm.h"

#include "core/graph/op_classes.h"
#include "fusion/match/expression.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"

#include <algorithm>
#include <limits>

/// rms-norm:  y = x * rsqrt(mean(x^2) + eps) * weight   (Zhang and Sennrich 2019, arXiv:1910.07467)
///
///     x --> [cast f32] --> pow 2 --> mean --> + eps --> rsqrt --> * x --> r
///     Llama:   r --> [cast back] --> * weight --> y
///     Gemma:   r --> * (1 + weight) --> [cast back] --> y
///     becomes   x, weight --> workbench.rms_norm --> y
///
/// The place is the rsqrt (or torch's own norm op): down from there the squares must be those of x over its
/// last dim, up from there x must be multiplied. Refused: a sum, another dim, half the width, a mean that is
/// subtracted, a weight that is no parameter.

namespace workbench {
namespace {

const Expression& inverseRoot() {
    static const Expression square =
        op("aten.pow", "the squares of the normed value", {bind("wide")}, {is("exponent", 2)});
    static const Expression mean = op("aten.mean", "the mean of the squares", {square},
                                      {lastDim("dim", "the mean runs over the last dim"),
                                       isTrue("keepdim", "the mean keeps its dim"), absent("dtype")});
    static const Expression variance =
        op("aten.add", "an epsilon added to the mean", {mean},
           {constant("other", "eps", "the epsilon is a constant"), absent("alpha")});
    static const Expression inverse = op("aten.rsqrt", "a reciprocal square root", {variance});
    return inverse;
}

bool isCast(const GraphView& view, NodeId node) {
    return node != kNone && view.op(node) == "aten._to_copy";
}

/// The value before a cast to a wider floating type.
ValueId narrowed(const GraphView& view, ValueId value) {
    const NodeId node = view.producer(value);
    if (!isCast(view, node))
        return value;
    const ValueId self = operand(view.node(node), "self");
    const ScalarType from = view.meta(self).dtype;
    return isFloatingPoint(from) && bytesPerElement(from) < bytesPerElement(view.meta(value).dtype) ? self
                                                                                                    : value;
}

bool notCentred(Search& search, ValueId wide) {
    const GraphView& view = search.view();
    const NodeId node = view.producer(narrowed(view, wide));
    const bool difference = node != kNone && view.op(node) == "aten.sub";
    const ValueId subtracted = difference ? operand(view.node(node), "other") : kNone;
    const bool centred = subtracted != kNone && view.producerOp(narrowed(view, subtracted)) == "aten.mean";
    return search.require(!centred, node, "no mean is subtracted before",
                          [&] { return view.describe(centred ? subtracted : wide); });
}

/// The product of x and the reciprocal root; captures it as "normed".
bool matchProduct(Search& search, NodeId root) {
    const GraphView& view = search.view();
    const ValueId inverse = view.result(root), wide = search.value("wide");
    const NodeId user = view.onlyUser(inverse);
    if (!search.require(user != kNone && view.op(user) == "aten.mul", root,
                        "the normed value times the reciprocal root",
                        [&] { return user == kNone ? "several users" : view.node(user).op; }))
        return false;
    const ValueId multiplied = otherOperand(view, user, inverse);
    if (!search.require(multiplied != kNone && narrowed(view, multiplied) == narrowed(view, wide), user,
                        "the multiplied value is the squared one", [&] {
                            return multiplied == kNone
                                       ? "a number"
                                       : view.describe(multiplied) + " times the root of the mean of " +
                                             view.describe(wide) + " squared";
                        }))
        return false;
    for (const ValueId value : {multiplied, wide})
        if (narrowed(view, value) != value)
            search.takeIfFree(view.producer(value));
    search.take(user);
    search.capture("normed", view.result(user));
    return true;
}

bool isCastTo(const GraphView& view, NodeId node, ScalarType dtype) {
    return isCast(view, node) && view.meta(view.result(node)).dtype == dtype;
}

/// The norm reads x itself when its result is rounded back to x's dtype, else the widened x.
ValueId inputOf(const GraphView& view, ValueId wide, ValueId normed) {
    const ValueId narrow = narrowed(view, wide);
    const ScalarType dtype = view.meta(narrow).dtype;
    const NodeId user = view.onlyUser(normed);
    const bool weighted = user != kNone && view.op(user) == "aten.mul";
    const NodeId last = weighted ? view.onlyUser(view.result(user)) : user;
    return isCastTo(view, last, dtype) ? narrow : wide;
}

/// A product by something that is spread over all rows is a weight; one by a number or a full tensor is the
/// next layer's business.
bool looksLikeWeight(const GraphView& view, ValueId value) {
    if (value == kNone)
        return false;
    const SymShape& shape = view.meta(value).shape;
    return !shape.empty() &&
           std::all_of(shape.begin(), shape.end() - 1, [](const SymInt& size) { return size == SymInt(1); });
}

/// `weighted`: product of the norm and `value`; the weight is value, or value = offset + weight, either in a
/// wider dtype.
bool matchWeight(Search& search, NodeId weighted, ValueId value, ScalarType dtype) {
    const GraphView& view = search.view();
    double offset = 0;
    ScalarType offsetDtype = view.meta(view.result(weighted)).dtype;
    for (NodeId node = view.producer(value); node != kNone; node = view.producer(value)) {
        const bool plain = view.op(node) == "aten.add" && isAbsent(argument(view.node(node), "alpha"));
        const auto added = plain && offset == 0 ? number(argument(view.node(node), "other")) : std::nullopt;
        if (!added && narrowed(view, value) == value)
            break;
        if (added) {
            offset = *added;
            offsetDtype = view.meta(value).dtype;
        }
        search.takeIfFree(node);
        value = operand(view.node(node), "self");
    }
    const TensorMeta& meta = view.meta(value);
    const SymInt& width = view.meta(search.value("wide")).shape.back();
    if (!search.require(view.isParameter(value), weighted, "the weight is a parameter",
                        [&] { return view.describe(value); }) ||
        !search.require(
            meta.shape.size() == 1 && meta.shape[0] == width, weighted,
            "the weight has one number per column, [" + width.text() + "]",
            [&] { return view.describe(value) + " of rank " + std::to_string(meta.shape.size()); }) ||
        !search.require(meta.dtype == dtype, weighted,
                        "the weight has the input's dtype " + std::string(name(dtype)),
                        [&] { return std::string(name(meta.dtype)); }) ||
        !search.require(offset == 0 || offsetDtype == view.meta(view.result(weighted)).dtype, weighted,
                        "the offset is added in the dtype of the product",
                        [&] { return std::string(name(offsetDtype)); }))
        return false;
    search.take(weighted);
    search.capture("weight", value);
    search.fact("weight_offset", offset);
    return true;
}

bool finish(Search& search, ValueId x, ValueId y, std::string cast) {
    const GraphView& view = search.view();
    const NodeId at = view.producer(y);
    if (!search.require(view.meta(y) == view.meta(x), at, "the result has the input's shape and dtype",
                        [&] { return view.describe(y) + " in " + std::string(name(view.meta(y).dtype)); }))
        return false;
    if (search.value("weight") == kNone)
        search.fact("weight_offset", 0.0);
    search.fact("cast", std::move(cast));
    search.capture("x", x);
    search.capture("y", y);
    search.role("norm", search.root());
    search.output(y);
    return true;
}

/// From the product up: rounding and weight, in either order.
bool matchTail(Search& search) {
    const GraphView& view = search.view();
    const ValueId normed = search.value("normed"), x = inputOf(view, search.value("wide"), normed);
    const ScalarType dtype = view.meta(x).dtype, computed = view.meta(normed).dtype;
    // In bf16 every step of the graph rounds, the op none.
    const ScalarType root = view.meta(view.result(search.root())).dtype;
    const bool exact = computed == ScalarType::f32 || (computed == ScalarType::f64 && dtype == computed);
    if (!search.require(exact && root == computed, view.producer(normed), "the norm computes in f32",
                        [&] { return std::string(name(exact ? root : computed)); }))
        return false;
    ValueId y = normed;
    NodeId user = view.onlyUser(y);
    if (isCastTo(view, user, dtype) && computed != dtype) {
        search.take(user);
        y = view.result(user);
        user = view.onlyUser(y);
    }
    const ValueId weight = user != kNone && view.op(user) == "aten.mul" ? otherOperand(view, user, y) : kNone;
    if (!looksLikeWeight(view, weight))
        return finish(search, x, y, "before_weight");
    const bool rounded = view.meta(y).dtype == dtype;
    if (!matchWeight(search, user, weight, dtype))
        return false;
    y = view.result(user);
    if (!rounded) {
        user = view.onlyUser(y);
        if (!search.require(isCastTo(view, user, dtype), view.producer(y),
                            "the result is rounded to the input's dtype",
                            [&] { return user == kNone ? "several users" : view.node(user).op; }))
            return false;
        search.take(user);
        y = view.result(user);
    }
    // In f32 both orders are the same; the name follows the usual spelling.
    const bool late = computed == dtype ? search.match().fact<double>("weight_offset", 0) != 0 : !rounded;
    return finish(search, x, y, late ? "after_weight" : "before_weight");
}

/// torch's own op: all in f32, weight included, then rounded; its epsilon defaults to that of the type it
/// computes in.
bool matchTorchOp(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const Node& node = view.node(place);
    const ValueId x = operand(node, "input"), weight = operand(node, "weight");
    const TensorMeta& meta = view.meta(x);
    const auto shape = integers(argument(node, "normalized_shape"));
    if (!search.require(
            shape && shape->size() == 1 && !meta.shape.empty() && SymInt(shape->front()) == meta.shape.back(),
            place, "the norm runs over the last dim",
            [&] { return "normalized_shape=" + describe(view.graph(), argument(node, "normalized_shape")); }))
        return false;
    const bool wide = meta.dtype == ScalarType::f64;
    const double epsilon =
        wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    search.fact("eps", number(argument(node, "eps")).value_or(epsilon));
    search.capture("wide", x);
    search.take(place);
    if (weight != kNone && !matchWeight(search, place, weight, meta.dtype))
        return false;
    return finish(search, x, view.result(place),
                  meta.dtype == ScalarType::f32 || wide || weight == kNone ? "before_weight"
                                                                           : "after_weight");
}

void build(const MatchContext&, const Match& match, Replacement& replacement) {
    std::vector<Argument> arguments{tensor("input", match.value("x"))};
    for (Argument& argument : normArguments(match))
        arguments.push_back(std::move(argument));
    replacement.add("workbench.rms_norm", std::move(arguments), {match.value("y")});
}

} // namespace

std::vector<NodeId> normPlaces(const MatchContext& context) {
    std::vector<NodeId> places;
    const GraphView& view = context.view();
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const std::string_view op = view.op(static_cast<NodeId>(i));
        if (op == "aten.rsqrt" || isTorchNorm(op) || isFusedOp(op, "rms-norm"))
            places.push_back(static_cast<NodeId>(i));
    }
    return places;
}

bool matchNorm(Search& search, NodeId place) {
    if (matchPresent(search, place, "norm", "rms-norm"))
        return true;
    const std::string_view op = search.view().op(place);
    if (isTorchRmsNorm(op))
        return matchTorchOp(search, place);
    if (!search.require(op == "aten.rsqrt", place, "a norm that subtracts no mean",
                        [&] { return std::string(op); }))
        return false;
    return matches(search, place, inverseRoot()) && notCentred(search, search.value("wide")) &&
           matchProduct(search, place) && matchTail(search);
}

std::vector<Argument> normArguments(const Match& match) {
    const ValueId weight = match.value("weight");
    return {weight == kNone ? noTensor("weight") : tensor("weight", weight),
            real("eps", match.fact<double>("eps", 0)),
            real("weight_offset", match.fact<double>("weight_offset", 0)),
            text("cast", match.fact<std::string>("cast", "before_weight"))};
}

Pattern rmsNorm() {
    return {.name = "rms-norm",
            .summary = "RMSNorm in all common spellings",
            .formula = "y = x * rsqrt(mean(x^2) + eps) * (offset + weight)",
            .sketch = "x -> [f32] -> pow 2 -> mean -> + eps -> rsqrt -> * x -> [round] -> * weight -> y\n"
                      "x, weight -> rms_norm -> y",
            .explanation = "Seven small ops that each read and write the hidden state become one pass "
                           "over it. Seen in nearly every decoder since Llama. All common spellings "
                           "are known (pow or x*x; rsqrt, pow(-0.5), 1/sqrt, x/sqrt; torch's own op), "
                           "with a weight, 1 + weight or none, rounded before the weight (Llama) or "
                           "after it (Gemma, OLMo 2).",
            .refuses = "a sum instead of a mean, another dim or half the width, a mean that is "
                       "subtracted, a weight that is not a parameter, a value in between that "
                       "something else reads",
            .op = "workbench.rms_norm",
            .counted = Counted::norms,
            .places = normPlaces,
            .match = matchNorm,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
