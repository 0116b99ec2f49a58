#include "fusion/patterns/moe_parts.h"

#include <optional>

namespace workbench {
namespace {

/// The value of which this one is only another arrangement in rows; takes the nodes between them that nothing
/// else reads.
ValueId arranged(Search& search, ValueId value) {
    const GraphView& view = search.view();
    for (;;) {
        const std::string_view op = view.producerOp(value);
        if (op != "aten.reshape" && op != "aten.unsqueeze" && op != "aten.squeeze")
            return value;
        search.takeIfFree(view.producer(value));
        value = operand(view.node(view.producer(value)), "self");
    }
}

/// Each pair's output times its routing weight; captures the weights [tokens, k] and the weighted outputs.
bool matchWeighted(Search& search) {
    const GraphView& view = search.view();
    const ValueId outputs = search.value("outputs");
    const NodeId product = view.onlyUser(outputs);
    const bool multiplied = product != kNone && view.op(product) == "aten.mul";
    const ValueId weight = multiplied ? otherOperand(view, product, outputs) : kNone;
    const SymShape shape = view.meta(outputs).shape;
    if (!search.require(weight != kNone && weight != outputs &&
                            view.meta(weight).shape == SymShape{shape[0], SymInt(1)},
                        view.producer(outputs), "an expert's output is only multiplied by one routing weight",
                        [&] { return readersText(view, outputs); }))
        return false;
    search.take(product);
    search.role("weigh", product);
    search.capture("weights", arranged(search, weight));
    search.capture("weighted", view.result(product));
    return true;
}

/// The sum over the k experts of each token, in the tokens' dtype again; captures it as "y".
bool matchSum(Search& search) {
    const GraphView& view = search.view();
    const ValueId weighted = search.value("weighted"), weights = search.value("weights");
    const SymShape chosen = view.meta(weights).shape;
    const NodeId grouped = view.onlyUser(weighted);
    const SymShape wanted =
        chosen.size() == 2 ? SymShape{chosen[0], chosen[1], view.meta(weighted).shape[1]} : SymShape{};
    if (!search.require(
            grouped != kNone && view.op(grouped) == "aten.reshape" &&
                view.meta(view.result(grouped)).shape == wanted,
            view.producer(weighted),
            "the weighted outputs are grouped by token, [tokens, k, hidden], as the weights are",
            [&] { return readersText(view, weighted) + "; weights " + shapeText(view, weights); }))
        return false;
    const NodeId sum = view.onlyUser(view.result(grouped));
    const auto dims = sum == kNone ? std::nullopt : integers(argument(view.node(sum), "dim"));
    if (!search.require(sum != kNone && view.op(sum) == "aten.sum" && dims && dims->size() == 1 &&
                            wrapDim(dims->front(), 3) == 1 && isAbsent(argument(view.node(sum), "keepdim")) &&
                            isAbsent(argument(view.node(sum), "dtype")),
                        grouped, "the outputs of a token's k experts are summed", [&] {
                            return readersText(view, view.result(grouped)) +
                                   (dims ? " over dim " + std::to_string(dims->front()) : "");
                        }))
        return false;
    search.take(grouped);
    search.take(sum);
    search.role("sum", sum);
    search.capture("y", view.result(sum));
    return true;
}

/// The value whose rows are repeated k times each: repeat_interleave, or a new dim that is spread and folded.
ValueId repeated(Search& search, ValueId rows, const SymInt& count) {
    const GraphView& view = search.view();
    const NodeId node = view.producer(rows);
    if (node == kNone)
        return kNone;
    const Node& it = view.node(node);
    const ArgumentValue* repeats = argument(it, "repeats");
    const auto* times = repeats ? std::get_if<SymInt>(repeats) : nullptr;
    if (view.op(node) == "aten.repeat_interleave") {
        if (!times || !(*times == count) || integer(argument(it, "dim")) != 0)
            return kNone;
        search.takeIfFree(node);
        return operand(it, "self");
    }
    const ValueId spread = view.op(node) == "aten.reshape" ? operand(it, "self") : kNone;
    if (spread == kNone || view.producerOp(spread) != "aten.expand" || view.meta(spread).shape.size() != 3 ||
        !(view.meta(spread).shape[1] == count))
        return kNone;
    const ValueId one = operand(view.node(view.producer(spread)), "self");
    const SymShape shape = view.meta(one).shape, all = view.meta(spread).shape;
    if (shape.size() != 3 || !(shape[1] == SymInt(1)) || !(shape[0] == all[0]) ||
        (view.producerOp(one) != "aten.unsqueeze" && view.producerOp(one) != "aten.reshape"))
        return kNone;
    for (const ValueId value : {rows, spread, one})
        search.takeIfFree(view.producer(value));
    return operand(view.node(view.producer(one)), "self");
}

/// The tokens x, of which the pairs are made, and the choice of experts for each of them.
bool matchTokens(Search& search, NodeId place) {
    const GraphView& view = search.view();
    const ValueId weights = search.value("weights"), rows = search.value("rows");
    const SymShape chosen = view.meta(weights).shape;
    const ValueId indices = arranged(search, search.value("ids"));
    if (!search.require(view.meta(indices).shape == chosen && chosen[1].isConstant(), place,
                        "the indices come as they are from [tokens, k], as the weights do",
                        [&] { return shapeText(view, indices) + ", weights " + shapeText(view, weights); }))
        return false;
    const ValueId x = repeated(search, rows, chosen[1]);
    if (!search.require(x != kNone && view.meta(x).shape == SymShape{chosen[0], view.meta(rows).shape[1]},
                        place, "each token is repeated once for each of its k experts",
                        [&] { return view.describe(rows); }))
        return false;
    search.capture("x", x);
    search.capture("indices", indices);
    return true;
}

/// Where the op rounds, the graph must: every value in the tokens' dtype, but for the weighted outputs and
/// their sum in f32 where the routing weights are.
bool matchRounding(Search& search) {
    const GraphView& view = search.view();
    const ScalarType dtype = view.meta(search.value("x")).dtype;
    for (const std::string_view name : {"gate_up", "down", "both", "active", "outputs"}) {
        const ScalarType found = view.meta(search.value(name)).dtype;
        if (!search.require(found == dtype, view.producer(search.value("y")),
                            "weights and products have the tokens' dtype " +
                                std::string(workbench::name(dtype)),
                            [&] { return std::string(workbench::name(found)); }))
            return false;
    }
    const ScalarType weight = view.meta(search.value("weights")).dtype;
    const bool wide = weight == ScalarType::f32 && dtype != ScalarType::f64;
    ValueId y = search.value("y");
    if (!search.require((weight == dtype || wide) && view.meta(y).dtype == weight, view.producer(y),
                        "the routing weights are f32 or have the tokens' dtype",
                        [&] { return std::string(workbench::name(weight)); }))
        return false;
    if (weight != dtype) {
        const NodeId cast = view.onlyUser(y);
        if (!search.require(cast != kNone && view.op(cast) == "aten._to_copy" &&
                                view.meta(view.result(cast)).dtype == dtype,
                            view.producer(y), "the sum is rounded to the tokens' dtype",
                            [&] { return readersText(view, y); }))
            return false;
        search.take(cast);
        y = view.result(cast);
    }
    search.capture("result", y);
    search.output(y);
    return true;
}

} // namespace

bool matchRouting(Search& search, NodeId place) {
    return matchWeighted(search) && matchSum(search) && matchTokens(search, place) && matchRounding(search);
}

} // namespace workbench
