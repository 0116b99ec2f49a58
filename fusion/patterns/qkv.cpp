#include "fusion/patterns/list.h"
#include "fusion/patterns/projections.h"

/// qkv:  [q | k | v] = x [Wq; Wk; Wv]^T + [bq; bk; bv]
///
///     x --> linear q --> ... --> attention (query)
///     x --> linear k --> ... --> attention (key)
///     x --> linear v --> ... --> attention (value)
///     becomes   x --> linear qkv --> split --> q, k, v
///
/// Who is q, k and v is proven by dataflow: each operand of the attention is computed from exactly one
/// projection, through any views, norms and rotations. Widths decide nothing, so a query narrower than the
/// key is right too. Refused: projections of different inputs, one projection for two roles (packed already),
/// weights that are computed or used elsewhere, a bias on some only.

namespace workbench {
namespace {

std::string nameOf(const GraphView& view, NodeId projection) {
    return '%' + view.graph().value(view.result(projection)).name;
}

bool matchRole(Search& search, NodeId place, ValueId operand, const char* expected) {
    const GraphView& view = search.view();
    const NodeId projection = search.context().projection(operand);
    return search.require(projection >= 0, place, expected, [&] {
        return view.describe(operand) + (projection == kNone ? " reads no projection"
                                         : projection < 0    ? " reads several projections"
                                                             : " reads " + nameOf(view, projection));
    });
}

bool matchQkv(Search& search, NodeId place) {
    const AttentionPlace& attention = *search.context().attention(place);
    if (!matchRole(search, place, attention.query, "the query is computed from one projection") ||
        !matchRole(search, place, attention.key, "the key is computed from one projection") ||
        !matchRole(search, place, attention.value, "the value is computed from one projection"))
        return false;
    const MatchContext& context = search.context();
    const NodeId q = context.projection(attention.query), k = context.projection(attention.key),
                 v = context.projection(attention.value);
    const GraphView& view = search.view();
    if (!search.require(q != k && q != v && k != v, place, "query, key and value have a projection each",
                        [&] {
                            if (q != k && q != v && k != v)
                                return nameOf(view, q) + ", " + nameOf(view, k) + ", " + nameOf(view, v);
                            const NodeId shared = q == k || q == v ? q : k;
                            return view.describe(view.result(shared)) + " makes " +
                                   (q == k && k == v ? "all three"
                                    : q == k         ? "query and key"
                                    : q == v         ? "query and value"
                                                     : "key and value");
                        }))
        return false;
    search.role("attention", place);
    for (const NodeId projection : {q, k, v})
        search.output(view.result(projection));
    return matchProjections(search, {{"q", q}, {"k", k}, {"v", v}});
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    const ValueId merged = buildMerged(context, match, {"q", "k", "v"}, "qkv_proj", replacement);
    std::vector<SymInt> sizes;
    for (const std::int64_t size : std::get<std::vector<std::int64_t>>(*match.fact("sizes")))
        sizes.emplace_back(size);
    replacement.add(
        "aten.split_with_sizes.default",
        {tensor("self", merged), integers("split_sizes", std::move(sizes)), integer("dim", SymInt(-1))},
        {match.value("q"), match.value("k"), match.value("v")});
}

} // namespace

Pattern qkv() {
    return {.name = "qkv",
            .summary = "the separate query, key and value projections of one value",
            .formula = "[q | k | v] = x [Wq; Wk; Wv]^T + [bq; bk; bv]",
            .sketch = "x -> linear q -> ... -> attention\n"
                      "x -> linear k -> ... -> attention\n"
                      "x -> linear v -> ... -> attention\n"
                      "x -> linear qkv -> split -> q, k, v",
            .explanation = "Three products with one input become one with a larger weight: the input "
                           "is read once, and few rows fill the machine better. Which projection is "
                           "query, key or value is proven by following the attention's operands back, "
                           "never by a name or a width. Seen in most decoders, with grouped and with "
                           "full heads, with and without biases.",
            .refuses = "projections of different inputs, one that serves two roles (packed already), "
                       "weights that are not parameters or that something else reads, a bias on some "
                       "of the three",
            .counted = Counted::attentions,
            .places = attentionPlaces,
            .match = matchQkv,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
