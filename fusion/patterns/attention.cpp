#include "fusion/patterns/attention_scores.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"

#include <cmath>

/// attention:  out = softmax(mask(softcap(scale * q k^T))) v
///
///     q, k --> matmul --> * scale --> [softcap] --> [+ mask] --> softmax --> matmul v --> out
///     becomes   q, k, v, positions --> workbench.attention --> transpose --> out
///
/// In a model that the tracer traced the op is there already: the site is present and states its scale, mask,
/// window, softcap and sinks. In other graphs scaled_dot_product_attention and the spelled-out form are
/// replaced where the mask is proven from the graph to be causal, a sliding window or none. Refused: a mask
/// that depends on an input or a buffer, batches, dropout, sinks joined to the scores.

namespace workbench {
namespace {

/// x of reshape(expand(unsqueeze(x, 2))), which repeats each key head for a group of query heads as the op
/// does by itself; kNone when the value is made in another way.
ValueId ungrouped(const GraphView& view, ValueId value, std::vector<NodeId>& passed) {
    const auto self = [&](ValueId from) { return operand(view.node(view.producer(from)), "self"); };
    if (view.producerOp(value) != "aten.reshape" || view.meta(value).shape.size() != 4)
        return kNone;
    const ValueId expanded = self(value);
    if (view.producerOp(expanded) != "aten.expand" || view.meta(expanded).shape.size() != 5)
        return kNone;
    const ValueId grouped = self(expanded);
    if (view.producerOp(grouped) != "aten.unsqueeze" ||
        integer(argument(view.node(view.producer(grouped)), "dim")) != 2)
        return kNone;
    const ValueId source = self(grouped);
    const SymShape &from = view.meta(source).shape, &to = view.meta(value).shape,
                   &wide = view.meta(expanded).shape;
    if (from.size() != 4 || from[2] != to[2] || from[3] != to[3] || wide[1] != from[1] ||
        to[1] != wide[1] * wide[2])
        return kNone;
    for (const ValueId step : {value, expanded, grouped})
        passed.push_back(view.producer(step));
    return source;
}

/// One batch, equally many queries and keys, whole groups of heads. `groups`: fewer key heads than query
/// heads are meant.
bool matchOperands(Search& search, NodeId place, ValueId query, ValueId key, ValueId value, bool groups) {
    const GraphView& view = search.view();
    std::vector<NodeId> passed;
    const ValueId oneKey = ungrouped(view, key, passed), oneValue = ungrouped(view, value, passed);
    if (oneKey != kNone && oneValue != kNone) {
        for (const NodeId node : passed)
            search.takeIfFree(node);
        key = oneKey;
        value = oneValue;
        groups = true;
    }
    const TensorMeta &q = view.meta(query), &k = view.meta(key), &v = view.meta(value);
    const auto shapes = [&] {
        return view.describe(query) + ", " + view.describe(key) + ", " + view.describe(value);
    };
    const bool ranks = q.shape.size() == 4 && k.shape.size() == 4 && v.shape.size() == 4 &&
                       q.dtype == k.dtype && q.dtype == v.dtype;
    if (!search.require(ranks, place, "query, key and value are [batch, heads, tokens, width] of one dtype",
                        shapes) ||
        !search.require(q.shape[0] == SymInt(1) && k.shape[0] == SymInt(1) && v.shape[0] == SymInt(1), place,
                        "a batch of one", [&] { return q.shape[0].text(); }) ||
        !search.require(q.shape[2] == k.shape[2] && k.shape[2] == v.shape[2], place,
                        "equally many queries and keys",
                        [&] { return q.shape[2].text() + " and " + k.shape[2].text(); }))
        return false;
    const bool known = q.shape[1].isConstant() && k.shape[1].isConstant() && k.shape[1].constant() > 0;
    const bool whole =
        known && q.shape[1].constant() % k.shape[1].constant() == 0 && v.shape[1] == k.shape[1];
    if (!search.require(whole && (groups || q.shape[1] == k.shape[1]) && q.shape[3] == k.shape[3], place,
                        "whole groups of query heads per key head", shapes))
        return false;
    search.capture("query", query);
    search.capture("key", key);
    search.capture("value", value);
    return true;
}

bool finish(Search& search, NodeId place, const Scores& scores, ValueId output) {
    const auto& places = search.context().attentions();
    std::int64_t layer = 0;
    while (places[static_cast<std::size_t>(layer)].node != place)
        ++layer;
    search.fact("layer", layer);
    search.fact("scale", scores.scale);
    search.fact("softcap", scores.softcap);
    search.fact("mask", scores.mask.kind);
    search.fact("window", scores.mask.window);
    search.fact("sinks", false);
    search.role("attention", place);
    search.capture("out", output);
    search.output(output);
    return true;
}

bool matchTorchOp(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const Node& node = view.node(place);
    const ValueId query = operand(node, "query"), mask = operand(node, "attn_mask");
    const auto isSet = [&](std::string_view name) {
        const ArgumentValue* given = argument(node, name);
        const auto* flag = given ? std::get_if<bool>(given) : nullptr;
        return flag && *flag;
    };
    Scores scores;
    if (!search.require(view.op(place) == "aten.scaled_dot_product_attention", place,
                        "an attention op that is not tied to a device", [&] { return node.op; }) ||
        !search.require(number(argument(node, "dropout_p")).value_or(0) == 0, place, "no dropout",
                        [&] { return "dropout_p=" + describe(view.graph(), argument(node, "dropout_p")); }) ||
        !matchOperands(search, place, query, operand(node, "key"), operand(node, "value"),
                       isSet("enable_gqa")))
        return false;
    if (mask != kNone && !matchMask(search, place, mask, false, scores))
        return false;
    if (isSet("is_causal"))
        scores.mask = {"causal", 0};
    const SymInt& width = view.meta(query).shape.back();
    if (!search.require(width.isConstant(), place, "the head width is known", [&] { return width.text(); }))
        return false;
    const double usual = 1.0 / std::sqrt(static_cast<double>(width.constant()));
    scores.scale = number(argument(node, "scale")).value_or(usual);
    search.take(place);
    return finish(search, place, scores, view.result(place));
}

bool matchSpelledOut(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const Node& softmax = view.node(place);
    ValueId value = operand(softmax, "self");
    const auto rank = static_cast<std::int64_t>(view.meta(value).shape.size());
    Scores scores;
    if (!search.require(rank == 4 && integer(argument(softmax, "dim")) == 3, place,
                        "the softmax runs over the keys",
                        [&] { return "dim=" + describe(view.graph(), argument(softmax, "dim")); }))
        return false;
    search.take(place);
    if (!matchScores(search, value, scores))
        return false;
    const ValueId query = operand(view.node(view.producer(value)), "self"),
                  turned = operand(view.node(view.producer(value)), "other");
    search.take(view.producer(value));
    if (!search.requireOp(turned, "aten.transpose", view.producer(value), "the key is transposed"))
        return false;
    const Node& transpose = view.node(view.producer(turned));
    if (!search.require(integer(argument(transpose, "dim0")) == 2 &&
                            integer(argument(transpose, "dim1")) == 3,
                        view.producer(turned), "tokens and width of the key change places",
                        [&] { return view.describe(turned); }))
        return false;
    const ValueId key = operand(transpose, "self");
    search.takeIfFree(view.producer(turned));
    NodeId user = view.onlyUser(view.result(place));
    while (isHarmlessCast(search, user)) {
        search.take(user);
        user = view.onlyUser(view.result(user));
    }
    if (!search.require(user != kNone && view.op(user) == "aten.matmul", place,
                        "the probabilities only weigh the values",
                        [&] { return user == kNone ? "several users" : view.node(user).op; }))
        return false;
    search.take(user);
    return matchOperands(search, place, query, key, operand(view.node(user), "other"), false) &&
           finish(search, place, scores, view.result(user));
}

bool matchAttention(Search& search, NodeId place) {
    if (matchPresent(search, place, "attention", "attention", {"sinks", "slopes"}))
        return true;
    return search.context().attention(place)->fused ? matchTorchOp(search, place)
                                                    : matchSpelledOut(search, place);
}

/// Positions 0, 1, ...: the graph's tokens are one sequence, so every row of its causal mask starts at the
/// first token.
ValueId positions(const SymInt& tokens, Replacement& replacement) {
    const ValueId flat = replacement.fresh("positions_flat", {ScalarType::i64, {tokens}});
    replacement.add("aten.arange.default", {integer("end", tokens), Argument{"dtype", ScalarType::i64}},
                    {flat});
    const ValueId rows = replacement.fresh("positions", {ScalarType::i64, {SymInt(1), tokens}});
    replacement.add("aten.unsqueeze.default", {tensor("self", flat), integer("dim", SymInt(0))}, {rows});
    return rows;
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    const ValueId output = match.value("out");
    const TensorMeta& meta = context.view().meta(output);
    const SymShape& query = context.view().meta(match.value("query")).shape;
    TensorMeta fusedMeta{meta.dtype, {query[0], query[2], query[1], meta.shape.back()}};
    const ValueId rows = positions(query[2], replacement);
    const ValueId fused =
        replacement.fresh(context.view().graph().value(output).name + "_attention", std::move(fusedMeta));
    replacement.add("workbench.attention",
                    {tensor("query", match.value("query")), tensor("key", match.value("key")),
                     tensor("value", match.value("value")), tensor("positions", rows),
                     integer("layer", SymInt(match.fact<std::int64_t>("layer", 0))),
                     real("scale", match.fact<double>("scale", 1)),
                     text("mask", match.fact<std::string>("mask", "causal")),
                     integer("window", SymInt(match.fact<std::int64_t>("window", 0))),
                     real("softcap", match.fact<double>("softcap", 0)), noTensor("sinks"),
                     noTensor("slopes")},
                    {fused});
    replacement.add("aten.transpose.int",
                    {tensor("self", fused), integer("dim0", SymInt(1)), integer("dim1", SymInt(2))},
                    {output});
}

} // namespace

Pattern attention() {
    return {.name = "attention",
            .summary = "softmax(QK^T)V as one op that a KV cache can be bound to",
            .formula = "out = softmax(mask(softcap(scale * q k^T))) v",
            .sketch = "q, k -> matmul -> * scale -> [softcap] -> [+ mask] -> softmax -> matmul v -> out\n"
                      "q, k, v, positions -> attention -> out",
            .explanation = "One op that knows its scale, mask, window, softcap and sinks, so that a "
                           "runtime can give it a cache. Models that the tracer traced have it "
                           "already (present). scaled_dot_product_attention and the spelled-out form "
                           "of other graphs are replaced where the mask is computed from positions in "
                           "the graph and proven to be causal, a sliding window or none.",
            .refuses = "masks that depend on an input or a buffer, batches of several, dropout, sinks "
                       "among the scores",
            .op = "workbench.attention",
            .counted = Counted::attentions,
            .places = attentionPlaces,
            .match = matchAttention,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
