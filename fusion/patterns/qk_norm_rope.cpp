#include "fusion/patterns/list.h"
#include "fusion/patterns/rms_norm.h"
#include "fusion/patterns/rotation.h"

/// qk-norm-rope:  out = rope(rms_norm(x)), for each head of the query and the key of one attention
///
///     x [B, T, H, D] --> rms-norm over D --> transpose --> rope --> attention    (Qwen 3)
///     x [B, T, H, D] --> transpose --> rms-norm over D --> rope --> attention    (Gemma 3)
///     becomes   query, key, weights, cos, sin --> workbench.qk_norm_rope --> query', key'
///
/// Refused: a norm over more than one head (OLMo 2), norms that differ in epsilon, offset or cast order, and
/// what rms-norm and rope refuse.

namespace workbench {
namespace {

struct Side {
    const char* rotated; ///< capture of what the rotation reads
    const char* input;   ///< capture of what the norm reads, before any transpose
    const char* weight;
    const char* expected;
};
constexpr Side kQuery{"query", "query_input", "query_weight",
                      "the query is RMS-normalised per head before its rotation"};
constexpr Side kKey{"key", "key_input", "key_weight",
                    "the key is RMS-normalised per head before its rotation"};

bool isHeadTranspose(const GraphView& view, ValueId value) {
    if (view.producerOp(value) != "aten.transpose" || view.meta(value).shape.size() != 4)
        return false;
    const Node& node = view.node(view.producer(value));
    return integer(argument(node, "dim0")) == 1 && integer(argument(node, "dim1")) == 2;
}

/// The norm before or after the transpose; captures what comes before both.
const Match* matchNorms(Search& search, NodeId place, const Side& side) {
    const GraphView& view = search.view();
    const ValueId rotated = search.value(side.rotated);
    const bool transposedLast = isHeadTranspose(view, rotated);
    const ValueId normed = transposedLast ? operand(view.node(view.producer(rotated)), "self") : rotated;
    const Match* norm = search.context().maker("rms-norm", normed);
    const NodeId at = view.producer(normed) == kNone ? place : view.producer(normed);
    if (!search.require(norm != nullptr, at, side.expected, [&] { return view.describe(normed); }))
        return nullptr;
    search.include(*norm);
    ValueId x = norm->value("x");
    if (transposedLast) {
        search.take(view.producer(rotated));
    } else {
        if (!search.require(isHeadTranspose(view, x), at,
                            "the normed value is [batch, tokens, heads, width], transposed",
                            [&] { return view.describe(x); }))
            return nullptr;
        search.takeIfFree(view.producer(x));
        x = operand(view.node(view.producer(x)), "self");
    }
    search.capture(side.input, x);
    if (const ValueId weight = norm->value("weight"); weight != kNone) {
        search.capture(side.weight, weight);
        search.fact(side.weight, view.input(weight)->target);
    }
    return norm;
}

bool matchQkNormRope(Search& search, NodeId place) {
    if (matchPresentRotation(search, place, "qk-norm-rope"))
        return true;
    if (!matchRotations(search, place))
        return false;
    const GraphView& view = search.view();
    const Match* query = matchNorms(search, place, kQuery);
    const Match* key = query ? matchNorms(search, place, kKey) : nullptr;
    if (!key)
        return false;
    for (const std::string_view name : {"eps", "weight_offset", "cast"}) {
        if (!search.require(*query->fact(name) == *key->fact(name), key->root,
                            "both norms have the same eps, weight_offset and cast", [&] {
                                return (*query->fact(name) == *key->fact(name) ? "one " : "another ") +
                                       std::string(name);
                            }))
            return false;
        search.fact(name, *query->fact(name));
    }
    search.role("norm", query->root);
    search.role("norm", key->root);
    return search.require(view.meta(search.value("query_out")).dtype ==
                              view.meta(search.value("query")).dtype,
                          place, "the rotation computes in the norm's dtype",
                          [&] { return std::string(name(view.meta(search.value("query_out")).dtype)); });
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    const auto weight = [&](const Side& side) {
        const ValueId value = match.value(side.weight);
        return value == kNone ? noTensor(side.weight) : tensor(side.weight, value);
    };
    const auto [cos, sin] = tables(match, context.view().meta(match.value("query_out")).dtype, replacement);
    replacement.add("workbench.qk_norm_rope",
                    {tensor("query", match.value(kQuery.input)), tensor("key", match.value(kKey.input)),
                     weight(kQuery), weight(kKey), tensor("cos", cos), tensor("sin", sin),
                     real("eps", match.fact<double>("eps", 0)),
                     real("weight_offset", match.fact<double>("weight_offset", 0)),
                     text("cast", match.fact<std::string>("cast", "before_weight")),
                     text("style", match.fact<std::string>("style", "half"))},
                    {match.value("query_out"), match.value("key_out")});
}

} // namespace

Pattern qkNormRope() {
    return {.name = "qk-norm-rope",
            .summary = "RMSNorm of each query and key head, then the rotation",
            .formula = "out = rope(rms_norm(x)), for each head of query and key",
            .sketch = "x -> rms-norm per head -> transpose -> rope -> attention      (twice: query and key)\n"
                      "query, key, weights, cos, sin -> qk_norm_rope -> query', key'",
            .explanation = "Query and key are normalised head by head, turned into the attention's "
                           "layout and rotated in one pass. Seen in Qwen 3 and Gemma 3. Contains rope "
                           "and the two rms-norms: where this is rejected, they can still be fused.",
            .refuses = "norms over the full width (OLMo 2), norms that differ in epsilon, offset or "
                       "cast order, and whatever rope and rms-norm refuse",
            .op = "workbench.qk_norm_rope",
            .contains = {"rope", "rms-norm"},
            .counted = Counted::attentions,
            .places = attentionPlaces,
            .match = matchQkNormRope,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
