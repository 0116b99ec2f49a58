#include "core/graph/op_classes.h"
#include "fusion/patterns/activations.h"
#include "fusion/patterns/moe_parts.h"

#include <algorithm>

namespace workbench {
namespace {

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
    const bool batched = product != kNone && isMatmul(view.op(product));
    if (!search.require(batched, pick, "the picked matrices only go into one batched product",
                        [&] { return readersText(view, matrix); }))
        return false;
    const auto sides = operands(view.node(product));
    if (!search.require(sides[0] == matrix, product,
                        "the weights are [experts, outputs, inputs] and stand left of a column",
                        [&] { return view.describe(sides[0]) + " stands left"; }))
        return false;
    const SymShape column = view.meta(sides[1]).shape, out = view.meta(view.result(product)).shape;
    const std::string_view made = view.producerOp(sides[1]);
    if (!search.require(column.size() == 3 && column[2] == SymInt(1) &&
                            (made == "aten.unsqueeze" || made == "aten.reshape"),
                        product, "each token is one column", [&] { return shapeText(view, sides[1]); }))
        return false;
    const ValueId row = operand(view.node(view.producer(sides[1])), "self");
    const NodeId flat = view.onlyUser(view.result(product));
    const bool squeezed = flat != kNone &&
                          (view.op(flat) == "aten.squeeze" || view.op(flat) == "aten.reshape") &&
                          view.meta(view.result(flat)).shape == SymShape{out[0], out[1]};
    if (!search.require(view.meta(row).shape == SymShape{column[0], column[1]} && squeezed, product,
                        "the products are rows again, [pairs, outputs]",
                        [&] { return readersText(view, view.result(product)); }))
        return false;
    search.take(product);
    search.take(view.producer(sides[1]));
    search.take(flat);
    search.capture(rows, row);
    search.capture(result, view.result(flat));
    return true;
}

/// act(first half) * second half; captures the product as "active".
bool matchGate(Search& search, NodeId at) {
    const GraphView& view = search.view();
    const ValueId both = search.value("both");
    const SymInt& width = view.meta(both).shape.back();
    const std::int64_t half = width.isConstant() ? width.constant() / 2 : 0;
    NodeId gate = kNone, up = kNone;
    const auto uses = view.uses(both);
    for (const Use& use : uses) {
        if (use.node == kNone || view.op(use.node) != "aten.slice")
            continue;
        gate = isColumns(view, view.result(use.node), both, 0, half) ? use.node : gate;
        up = isColumns(view, view.result(use.node), both, half, 2 * half) ? use.node : up;
    }
    if (!search.require(uses.size() == 2 && gate != kNone && up != kNone && SymInt(2 * half) == width, at,
                        "the first product is read as two halves, gate and up",
                        [&] { return readersText(view, both); }))
        return false;
    const NodeId activation = view.onlyUser(view.result(gate));
    const std::string kernel = activation == kNone ? "" : activationKernel(view.node(activation));
    if (!search.require(!kernel.empty(), gate,
                        "the first half goes into " + std::string(kActivationWithKernel),
                        [&] { return readersText(view, view.result(gate)); }))
        return false;
    const NodeId product = view.onlyUser(view.result(activation));
    const bool multiplied = product != kNone && view.op(product) == "aten.mul" &&
                            view.onlyUser(view.result(up)) == product &&
                            operands(view.node(product)).size() == 2;
    if (!search.require(multiplied, activation, "the activated half is multiplied by the second half",
                        [&] { return readersText(view, view.result(activation)); }))
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
    const bool batched = product != kNone && isMatmul(view.op(product));
    if (!search.require(batched, view.producer(active), "the gated value only goes into the second product",
                        [&] { return readersText(view, column == kNone ? active : view.result(column)); }))
        return false;
    const NodeId pick = view.producer(operands(view.node(product))[0]);
    return matchPick(search, pick, "down") && matchProduct(search, pick, "gated", "outputs") &&
           search.require(search.value("gated") == active, product,
                          "the second product reads the gated value",
                          [&] { return view.describe(search.value("gated")); });
}

} // namespace

bool matchExpertProducts(Search& search, NodeId place) {
    return matchPick(search, place, "gate_up") && matchProduct(search, place, "rows", "both") &&
           matchGate(search, place) && matchDown(search);
}

std::string readersText(const GraphView& view, ValueId value) {
    const auto uses = view.uses(value);
    if (uses.empty())
        return "nothing reads it";
    const NodeId first = uses.front().node;
    std::string text = first == kNone ? "an output of the graph" : view.describe(view.result(first));
    return uses.size() == 1 ? text : text + " and " + std::to_string(uses.size() - 1) + " more";
}

std::string shapeText(const GraphView& view, ValueId value) {
    std::string text;
    for (const SymInt& size : view.meta(value).shape)
        text += (text.empty() ? "[" : ", ") + size.text();
    return view.describe(value) + " " + (text.empty() ? "[" : text) + "]";
}

} // namespace workbench
