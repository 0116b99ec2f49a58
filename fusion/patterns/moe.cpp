#include "fusion/experts.h"
#include "fusion/match/dimension.h"
#include "fusion/patterns/activations.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"

#include <algorithm>
#include <optional>

/// moe:  y[t] = sum_j w[t, j] * D[e] (act(G[e] x[t]) * U[e] x[t]),  e = indices[t, j]
///
///     indices --> pick from the 3-D gate_up --.
///     x --> repeat each token k times --> column --> bmm --> halves --> act, * --> column --.
///     indices --> pick from the 3-D down -------------------------------------------------> bmm --> * w
///       --> [tokens, k, hidden] --> sum over k --> y
///     becomes   x, w, indices, gate_up, down --> workbench.moe_experts --> y
///
/// The place is the first pick out of a 3-D weight by computed indices, whatever module it is in; routing
/// weights and indices may come from anywhere. Refused: a bias, a clamp, weights that are stored [experts,
/// inputs, outputs], gate and up swapped or interleaved, no gate, indices that are clamped or differ between
/// the two weights, a norm after the experts, a sum over another dim.

namespace workbench {
namespace {

std::vector<NodeId> expertPlaces(const MatchContext& context) {
    std::vector<NodeId> places;
    for (const ExpertBlock& block : expertBlocks(context.view()))
        places.push_back(block.gathers.front());
    return places;
}

/// "aten.add (%x) and 1 more", "nothing": who reads the value.
std::string readers(const GraphView& view, ValueId value) {
    const auto uses = view.uses(value);
    if (uses.empty())
        return "nothing reads it";
    const NodeId first = uses.front().node;
    std::string text = first == kNone ? "an output of the graph" : view.describe(view.result(first));
    return uses.size() == 1 ? text : text + " and " + std::to_string(uses.size() - 1) + " more";
}

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

SymShape shapeOf(const GraphView& view, ValueId value) {
    return view.meta(value).shape;
}

std::string shapeText(const GraphView& view, ValueId value) {
    std::string text;
    for (const SymInt& size : view.meta(value).shape)
        text += (text.empty() ? "[" : ", ") + size.text();
    return view.describe(value) + " " + (text.empty() ? "[" : text) + "]";
}

bool isExpertMatrix(const GraphView& view, ValueId value) {
    const SymShape& shape = view.meta(value).shape;
    return view.isParameter(value) && shape.size() == 3 &&
           std::all_of(shape.begin(), shape.end(), [](const SymInt& size) { return size.isConstant(); });
}

/// The indices of a pick along the first dim; kNone for any other.
ValueId indicesOf(const GraphView& view, NodeId node) {
    const Node& it = view.node(node);
    if (view.op(node) == "aten.index_select")
        return integer(argument(it, "dim")) == 0 ? operand(it, "index") : kNone;
    const ArgumentValue* given = argument(it, "indices");
    const auto* indices = given ? std::get_if<std::vector<ValueRef>>(given) : nullptr;
    return view.op(node) == "aten.index" && indices && indices->size() == 1 ? indices->front().id : kNone;
}

/// Node `node` picks one matrix [outputs, inputs] for each pair of token and expert; captures the weight.
bool matchPick(Search& search, NodeId node, std::string_view weight) {
    const GraphView& view = search.view();
    const ValueId ids = node == kNone ? kNone : indicesOf(view, node);
    if (!search.require(ids != kNone, node == kNone ? search.root() : node,
                        "each expert's matrix is picked by one index",
                        [&] { return node == kNone ? "a parameter" : view.node(node).op; }))
        return false;
    const ValueId self = operand(view.node(node), "self");
    const ValueId known = search.value("ids");
    if (!search.require(isExpertMatrix(view, self), node, "the experts' weights are one 3-D parameter",
                        [&] { return view.describe(self); }) ||
        !search.require(known == kNone || known == ids, node,
                        "both products are of the experts that the same indices choose",
                        [&] { return view.describe(ids) + (known == ids ? " are both" : ""); }))
        return false;
    if (!search.require(view.meta(ids).dtype == ScalarType::i64, node, "the indices are of 64 bits",
                        [&] { return std::string(name(view.meta(ids).dtype)); }))
        return false;
    if (known == kNone)
        search.capture("ids", ids);
    search.take(node);
    search.capture(weight, self);
    return true;
}

/// The product of each picked matrix with its column [pairs, inputs, 1]; captures its result [pairs, outputs]
/// as `result` and the rows that the columns are as `rows`.
bool matchProduct(Search& search, NodeId pick, std::string_view rows, std::string_view result) {
    const GraphView& view = search.view();
    const ValueId matrix = view.result(pick);
    const NodeId product = view.onlyUser(matrix);
    const bool batched =
        product != kNone && (view.op(product) == "aten.bmm" || view.op(product) == "aten.matmul");
    if (!search.require(batched, pick, "the picked matrices only go into one batched product",
                        [&] { return readers(view, matrix); }))
        return false;
    const auto sides = operands(view.node(product));
    if (!search.require(sides[0] == matrix, product,
                        "the weights are [experts, outputs, inputs] and stand left of a column",
                        [&] { return view.describe(sides[0]) + " stands left"; }))
        return false;
    const SymShape column = shapeOf(view, sides[1]), out = shapeOf(view, view.result(product));
    const std::string_view made = view.producerOp(sides[1]);
    if (!search.require(column.size() == 3 && column[2] == SymInt(1) &&
                            (made == "aten.unsqueeze" || made == "aten.reshape"),
                        product, "each token is one column", [&] { return shapeText(view, sides[1]); }))
        return false;
    const ValueId row = operand(view.node(view.producer(sides[1])), "self");
    const NodeId flat = view.onlyUser(view.result(product));
    const bool squeezed = flat != kNone &&
                          (view.op(flat) == "aten.squeeze" || view.op(flat) == "aten.reshape") &&
                          shapeOf(view, view.result(flat)) == SymShape{out[0], out[1]};
    if (!search.require(shapeOf(view, row) == SymShape{column[0], column[1]} && squeezed, product,
                        "the products are rows again, [pairs, outputs]",
                        [&] { return readers(view, view.result(product)); }))
        return false;
    search.take(product);
    search.take(view.producer(sides[1]));
    search.take(flat);
    search.capture(rows, row);
    search.capture(result, view.result(flat));
    return true;
}

/// whole[..., start:end]
bool isColumns(const GraphView& view, NodeId node, std::int64_t start, std::int64_t end) {
    const auto at = [&](std::string_view name) { return integer(argument(view.node(node), name)); };
    return at("dim") == 1 && at("start") == start && at("end") == end && at("step") == 1;
}

/// act(first half) * second half; captures the product as "active".
bool matchGate(Search& search, NodeId at) {
    const GraphView& view = search.view();
    const ValueId both = search.value("both");
    const SymInt& width = shapeOf(view, both).back();
    const std::int64_t half = width.isConstant() ? width.constant() / 2 : 0;
    NodeId gate = kNone, up = kNone;
    const auto uses = view.uses(both);
    for (const Use& use : uses) {
        if (use.node == kNone || view.op(use.node) != "aten.slice")
            continue;
        gate = isColumns(view, use.node, 0, half) ? use.node : gate;
        up = isColumns(view, use.node, half, 2 * half) ? use.node : up;
    }
    if (!search.require(uses.size() == 2 && gate != kNone && up != kNone && SymInt(2 * half) == width, at,
                        "the first product is read as two halves, gate and up",
                        [&] { return readers(view, both); }))
        return false;
    const NodeId activation = view.onlyUser(view.result(gate));
    const std::string kernel = activation == kNone ? "" : activationKernel(view.node(activation));
    if (!search.require(!kernel.empty(), gate,
                        "the first half goes into " + std::string(kActivationWithKernel),
                        [&] { return readers(view, view.result(gate)); }))
        return false;
    const NodeId product = view.onlyUser(view.result(activation));
    const bool multiplied = product != kNone && view.op(product) == "aten.mul" &&
                            view.onlyUser(view.result(up)) == product &&
                            operands(view.node(product)).size() == 2;
    if (!search.require(multiplied, activation, "the activated half is multiplied by the second half",
                        [&] { return readers(view, view.result(activation)); }))
        return false;
    for (const NodeId node : {gate, up, activation, product})
        search.take(node);
    search.role("act", activation);
    search.fact("activation", kernel);
    search.capture("active", view.result(product));
    return true;
}

/// The product with the second weight, found from its column up.
bool matchDown(Search& search) {
    const GraphView& view = search.view();
    const ValueId active = search.value("active");
    const NodeId column = view.onlyUser(active);
    const NodeId product = column == kNone ? kNone : view.onlyUser(view.result(column));
    const bool batched =
        product != kNone && (view.op(product) == "aten.bmm" || view.op(product) == "aten.matmul");
    if (!search.require(batched, view.producer(active), "the gated value only goes into the second product",
                        [&] { return readers(view, column == kNone ? active : view.result(column)); }))
        return false;
    const NodeId pick = view.producer(operands(view.node(product))[0]);
    return matchPick(search, pick, "down") && matchProduct(search, pick, "gated", "outputs") &&
           search.require(search.value("gated") == active, product,
                          "the second product reads the gated value",
                          [&] { return view.describe(search.value("gated")); });
}

/// The other operand of a product.
ValueId factor(const GraphView& view, NodeId product, ValueId known) {
    const ValueId self = operand(view.node(product), "self");
    return self == known ? operand(view.node(product), "other") : self;
}

/// Each pair's output times its routing weight; captures the weights [tokens, k] and the weighted outputs.
bool matchWeighted(Search& search) {
    const GraphView& view = search.view();
    const ValueId outputs = search.value("outputs");
    const NodeId product = view.onlyUser(outputs);
    const bool multiplied = product != kNone && view.op(product) == "aten.mul";
    const ValueId weight = multiplied ? factor(view, product, outputs) : kNone;
    const SymShape shape = shapeOf(view, outputs);
    if (!search.require(weight != kNone && weight != outputs &&
                            shapeOf(view, weight) == SymShape{shape[0], SymInt(1)},
                        view.producer(outputs), "an expert's output is only multiplied by one routing weight",
                        [&] { return readers(view, outputs); }))
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
    const SymShape chosen = shapeOf(view, weights);
    const NodeId grouped = view.onlyUser(weighted);
    const SymShape wanted =
        chosen.size() == 2 ? SymShape{chosen[0], chosen[1], shapeOf(view, weighted)[1]} : SymShape{};
    if (!search.require(grouped != kNone && view.op(grouped) == "aten.reshape" &&
                            shapeOf(view, view.result(grouped)) == wanted,
                        view.producer(weighted),
                        "the weighted outputs are grouped by token, [tokens, k, hidden], as the weights are",
                        [&] { return readers(view, weighted) + "; weights " + shapeText(view, weights); }))
        return false;
    const NodeId sum = view.onlyUser(view.result(grouped));
    const auto dims = sum == kNone ? std::nullopt : integers(argument(view.node(sum), "dim"));
    if (!search.require(sum != kNone && view.op(sum) == "aten.sum" && dims && dims->size() == 1 &&
                            wrapDim(dims->front(), 3) == 1 && isAbsent(argument(view.node(sum), "keepdim")) &&
                            isAbsent(argument(view.node(sum), "dtype")),
                        grouped, "the outputs of a token's k experts are summed", [&] {
                            return readers(view, view.result(grouped)) +
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
    if (spread == kNone || view.producerOp(spread) != "aten.expand" || shapeOf(view, spread).size() != 3 ||
        !(shapeOf(view, spread)[1] == count))
        return kNone;
    const ValueId one = operand(view.node(view.producer(spread)), "self");
    const SymShape shape = shapeOf(view, one), all = shapeOf(view, spread);
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
    const SymShape chosen = shapeOf(view, weights);
    const ValueId indices = arranged(search, search.value("ids"));
    if (!search.require(shapeOf(view, indices) == chosen && chosen[1].isConstant(), place,
                        "the indices come as they are from [tokens, k], as the weights do",
                        [&] { return shapeText(view, indices) + ", weights " + shapeText(view, weights); }))
        return false;
    const ValueId x = repeated(search, rows, chosen[1]);
    if (!search.require(x != kNone && shapeOf(view, x) == SymShape{chosen[0], shapeOf(view, rows)[1]}, place,
                        "each token is repeated once for each of its k experts",
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
                            [&] { return readers(view, y); }))
            return false;
        search.take(cast);
        y = view.result(cast);
    }
    search.capture("result", y);
    search.output(y);
    return true;
}

bool matchMoe(Search& search, NodeId place) {
    if (matchPresent(search, place, "experts", {"workbench.moe_experts"}))
        return true;
    const GraphView& view = search.view();
    if (!matchPick(search, place, "gate_up") || !matchProduct(search, place, "rows", "both") ||
        !matchGate(search, place) || !matchDown(search) || !matchWeighted(search) || !matchSum(search) ||
        !matchTokens(search, place) || !matchRounding(search))
        return false;
    const SymShape& first = view.meta(search.value("gate_up")).shape;
    const SymShape& second = view.meta(search.value("down")).shape;
    if (!search.require(first[0] == second[0], place, "both weights have one number of experts",
                        [&] { return shapeText(view, search.value("down")); }))
        return false;
    search.role("experts", place);
    search.fact("experts", first[0].constant());
    search.fact("top_k", view.meta(search.value("weights")).shape[1].constant());
    return true;
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    replacement.locateAt(context.view().producer(match.value("y")));
    replacement.add("workbench.moe_experts",
                    {tensor("hidden", match.value("x")), tensor("routing_weights", match.value("weights")),
                     tensor("indices", match.value("indices")), tensor("gate_up", match.value("gate_up")),
                     tensor("down", match.value("down")),
                     text("activation", match.fact<std::string>("activation", ""))},
                    {match.value("result")});
}

} // namespace

Pattern moe() {
    return {.name = "moe",
            .summary = "the experts of a mixture: both products, activation, routing weights and sum",
            .formula = "y[t] = sum_j w[t, j] * D[e] (act(G[e] x[t]) * U[e] x[t]),  e = indices[t, j]",
            .sketch = "indices -> pick gate_up --.\n"
                      "x -> repeat k times ---> bmm -> halves -> act, * --> bmm -> * w -> sum over k -> y\n"
                      "indices -> pick down ----------------------------'\n"
                      "x, w, indices, gate_up, down -> moe_experts -> y",
            .explanation = "The traced graph copies two matrices for each pair of token and expert; "
                           "the op sorts the pairs by expert and reads every expert that was chosen "
                           "once. Seen in Mixtral, Qwen3-MoE, OLMoE and DeepSeek; the experts are found "
                           "by their 3-D weights and by where the indices go, the router may be any.",
            .refuses = "biases, clamps, weights that are stored [experts, inputs, outputs], gate and up "
                       "swapped or interleaved, experts without a gate, indices that are clamped for "
                       "expert parallelism, a norm after the experts",
            .counted = Counted::experts,
            .places = expertPlaces,
            .match = matchMoe,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
