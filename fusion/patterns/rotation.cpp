#include "fusion/patterns/rotation.h"

#include "fusion/match/expression.h"
#include "fusion/patterns/present.h"

namespace workbench {
namespace {

/// Names of the captures of one side.
struct Side {
    std::string_view role, rotated, input, output;
    std::string_view expected;
};
constexpr Side kQuery{"q", "query_rotated", "query", "query_out",
                      "the query is rotated: x * cos + rotate(x) * sin"};
constexpr Side kKey{"k", "key_rotated", "key", "key_out", "the key is rotated: x * cos + rotate(x) * sin"};

/// Width of the last dim; 0 when it is not known.
std::int64_t width(const GraphView& view, ValueId value) {
    const SymShape& shape = view.meta(value).shape;
    return !shape.empty() && shape.back().isConstant() ? shape.back().constant() : 0;
}

/// The slice of the last dim [start, end) with a step, given the width of what is sliced.
struct Piece {
    std::int64_t start, end, step;
};
using PieceOf = Piece (*)(std::int64_t width);

Condition takes(PieceOf piece, std::string_view expected) {
    return [=](Search& search, NodeId node) {
        const GraphView& view = search.view();
        const Node& slice = view.node(node);
        const ValueId self = operand(slice, "self");
        const std::int64_t whole = width(view, self);
        const auto rank = static_cast<std::int64_t>(view.meta(self).shape.size());
        const Piece wanted = piece(whole);
        const auto at = [&](std::string_view name) { return integer(argument(slice, name)); };
        const bool holds = whole > 0 && whole % 2 == 0 && at("dim") == rank - 1 &&
                           at("start") == wanted.start && at("end") == wanted.end &&
                           at("step") == wanted.step;
        return search.require(holds, node, expected, [&] {
            const auto text = [&](std::string_view name) {
                return describe(view.graph(), argument(slice, name));
            };
            return "[" + text("start") + ":" + text("end") + ":" + text("step") + "] of dim " + text("dim") +
                   " of " + std::to_string(whole);
        });
    };
}

/// The last dim is concatenated or stacked.
Condition joinsLast(std::string_view expected) {
    return [=](Search& search, NodeId node) {
        const GraphView& view = search.view();
        const auto rank = static_cast<std::int64_t>(view.meta(view.result(node)).shape.size());
        const auto dim = integer(argument(view.node(node), "dim"));
        return search.require(
            dim && wrapDim(*dim, static_cast<std::size_t>(rank)) == rank - 1, node, expected,
            [&] { return "dim=" + describe(view.graph(), argument(view.node(node), "dim")); });
    };
}

/// rotate(x) of either style; binds x.
Expression turned(const Side& side, bool interleaved) {
    const PieceOf negated = interleaved ? PieceOf([](std::int64_t w) {
        return Piece{1, w, 2};
    })
                                        : PieceOf([](std::int64_t w) {
                                              return Piece{w / 2, w, 1};
                                          });
    const PieceOf kept = interleaved ? PieceOf([](std::int64_t w) {
        return Piece{0, w, 2};
    })
                                     : PieceOf([](std::int64_t w) {
                                           return Piece{0, w / 2, 1};
                                       });
    const Expression first = op("aten.neg", "the negated part comes first",
                                {op("aten.slice", "a part of x is negated", {bind(side.rotated)},
                                    {takes(negated, interleaved ? "the negated part is the odd columns"
                                                                : "the negated part is the second half")})},
                                {});
    const Expression second = op("aten.slice", "the other part of x comes second",
                                 {same(side.rotated, "both parts are of one value")},
                                 {takes(kept, interleaved ? "the other part is the even columns"
                                                          : "the other part is the first half")});
    if (!interleaved)
        return op("aten.cat", "rotate(x) = cat(-x2, x1)", {first, second},
                  {joinsLast("the halves are joined along the last dim")});
    return op("aten.reshape", "rotate(x) interleaves -x2 and x1",
              {op("aten.stack", "rotate(x) = stack(-x2, x1)", {first, second},
                  {joinsLast("the parts are stacked along a new last dim")})});
}

/// cos or sin, spread over the heads. The query binds it, the key must have the same.
Expression table(std::string_view name, bool known) {
    const Expression inner = known ? same(name, "query and key are rotated by the same tables") : bind(name);
    return freeOp("aten.unsqueeze", "the table is [batch, tokens, width] spread over the heads", inner,
                  {is("dim", 1)});
}

/// x * cos + rotate(x) * sin; the rotated half is matched first because it tells which product is which.
Expression rotation(const Side& side, bool interleaved, bool known) {
    const Expression sine =
        commutative("aten.mul", "a product with sin", turned(side, interleaved), table("sin", known));
    const Expression cosine =
        commutative("aten.mul", "a product with cos", same(side.rotated, "x itself is multiplied by cos"),
                    table("cos", known));
    return commutative("aten.add", side.expected, sine, cosine, {absent("alpha")});
}

/// The value that the rotation made, seen through casts, views and factors between it and the attention.
ValueId rotatedValue(const GraphView& view, ValueId value) {
    for (int steps = 0; steps < 8; ++steps) {
        const NodeId node = view.producer(value);
        if (node == kNone)
            return value;
        const std::string_view op = view.op(node);
        const bool passes =
            op == "aten._to_copy" || op == "aten.transpose" || op == "aten.reshape" || op == "aten.expand" ||
            op == "aten.unsqueeze" || op == "aten.repeat_interleave" ||
            ((op == "aten.mul" || op == "aten.div") && operand(view.node(node), "other") == kNone);
        if (!passes)
            return value;
        value = operand(view.node(node), "self");
    }
    return value;
}

/// Is this add the sum of two products, one of them of a rearranged value? Then the style can be told before
/// matching.
bool looksInterleaved(const GraphView& view, ValueId sum) {
    const NodeId add = view.producer(sum);
    for (const ValueId product : add == kNone ? Operands() : operands(view.node(add)))
        if (view.producerOp(product) == "aten.mul")
            for (const ValueId factor : operands(view.node(view.producer(product))))
                if (view.producerOp(factor) == "aten.reshape")
                    return true;
    return false;
}

/// cat(rotated(x[..., :R]), x[..., R:]): the last columns pass through.
bool matchPassThrough(Search& search, NodeId cat, const Side& side) {
    const GraphView& view = search.view();
    const ValueId part = search.value(side.rotated), rest = operands(view.node(cat))[1];
    if (!search.requireOp(part, "aten.slice", cat, "the rotated part is a slice"))
        return false;
    const ValueId whole = operand(view.node(view.producer(part)), "self");
    const std::int64_t rotary = width(view, part);
    const bool first = isColumns(view, part, whole, 0, rotary);
    const bool others = isColumns(view, rest, whole, rotary, width(view, whole));
    if (!search.require(first, cat, "the first columns are rotated", [&] { return view.describe(part); }) ||
        !search.require(others, cat, "the other columns pass through", [&] { return view.describe(rest); }))
        return false;
    search.take(view.producer(part));
    search.take(view.producer(rest));
    search.take(cat);
    search.capture(side.input, whole);
    return true;
}

bool matchSide(Search& search, NodeId place, ValueId attended, const Side& side, bool interleaved,
               bool known) {
    static const Expression expressions[2][2] = {
        {rotation(kQuery, false, false), rotation(kQuery, true, false)},
        {rotation(kKey, false, true), rotation(kKey, true, true)}};
    const GraphView& view = search.view();
    const ValueId value = rotatedValue(view, attended);
    const NodeId node = view.producer(value);
    const bool partial =
        node != kNone && view.op(node) == "aten.cat" && operands(view.node(node)).size() == 2;
    const ValueId sum = partial ? operands(view.node(node)).front() : value;
    if (!expressions[known][interleaved](search, sum, partial ? node : place))
        return false;
    const ValueId x = search.value(side.rotated);
    const NodeId at = view.producer(sum);
    if (!search.require(view.meta(sum).shape == view.meta(x).shape, at, "the rotation keeps the shape of x",
                        [&] { return view.describe(sum); }) ||
        !search.require(!partial || view.meta(sum).dtype == view.meta(x).dtype, at,
                        "a partial rotation keeps the dtype",
                        [&] { return std::string(name(view.meta(sum).dtype)); }))
        return false;
    for (const ValueId product : operands(view.node(at)))
        if (!search.require(view.meta(product).dtype == view.meta(sum).dtype, at,
                            "both products have one dtype",
                            [&] { return std::string(name(view.meta(product).dtype)); }))
            return false;
    if (partial && !matchPassThrough(search, node, side))
        return false;
    if (!partial)
        search.capture(side.input, x);
    search.capture(side.output, value);
    search.role(side.role, at);
    search.output(value);
    return true;
}

/// [batch, heads, tokens, width] with tables [1 or batch, tokens, rotary width].
bool matchShapes(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const TensorMeta &query = view.meta(search.value("query")), &key = view.meta(search.value("key"));
    const bool fits = query.shape.size() == 4 && key.shape.size() == 4 && query.shape[0] == key.shape[0] &&
                      query.shape[2] == key.shape[2] && query.shape[3] == key.shape[3] &&
                      query.dtype == key.dtype;
    if (!search.require(fits, place, "query and key are [batch, heads, tokens, width] of one dtype", [&] {
            return view.describe(search.value("query")) + " and " + view.describe(search.value("key"));
        }))
        return false;
    const SymInt& rotary = view.meta(search.value("query_rotated")).shape.back();
    for (const std::string_view name : {"cos", "sin"}) {
        const SymShape& shape = view.meta(search.value(name)).shape;
        if (!search.require(shape.size() == 3 && (shape[0] == SymInt(1) || shape[0] == query.shape[0]) &&
                                shape[1] == query.shape[2] && shape[2] == rotary,
                            place, "the tables are [batch, tokens, rotary width]",
                            [&] { return view.describe(search.value(name)); }))
            return false;
    }
    return search.require(
        view.meta(search.value("query_out")).dtype == view.meta(search.value("key_out")).dtype, place,
        "query and key are rotated in one dtype", [&] { return view.describe(search.value("key_out")); });
}

} // namespace

bool matchRotations(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const AttentionPlace& attention = *search.context().attention(place);
    const ValueId query = rotatedValue(view, attention.query);
    const bool partial = view.producerOp(query) == "aten.cat";
    const bool interleaved =
        looksInterleaved(view, partial ? operands(view.node(view.producer(query))).front() : query);
    if (!matchSide(search, place, attention.query, kQuery, interleaved, false) ||
        !matchSide(search, place, attention.key, kKey, interleaved, true))
        return false;
    if (!search.require(
            search.value("query_out") != search.value("key_out"), place, "query and key are two values",
            [&] {
                const ValueId query = search.value("query_out"), key = search.value("key_out");
                return view.describe(query) + (query == key ? " is both" : ", " + view.describe(key));
            }) ||
        !matchShapes(search, place))
        return false;
    search.role("attention", place);
    search.fact("style", std::string(interleaved ? "interleaved" : "half"));
    search.fact("rotary_dim", width(view, search.value("query_rotated")));
    return true;
}

bool matchPresentRotation(Search& search, NodeId place, std::string_view pattern) {
    const GraphView& view = search.view();
    const AttentionPlace& attention = *search.context().attention(place);
    const NodeId query = view.producer(rotatedValue(view, attention.query)),
                 key = view.producer(rotatedValue(view, attention.key));
    return query == key && matchPresent(search, query, "rope", pattern);
}

Tables tables(const Match& match, ScalarType dtype, Replacement& replacement) {
    const ValueId cos = match.value("cos"), sin = match.value("sin");
    return {replacement.cast(cos, dtype), replacement.cast(sin, dtype)};
}

} // namespace workbench
