#include "runtime/program/position_rows.h"

#include "core/graph/op_classes.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace workbench {
namespace {

constexpr std::int64_t kFewest = 256; // rows of the first table

std::size_t at(ValueId id) {
    return static_cast<std::size_t>(id);
}

/// One dimension is `tokens`, all others are constant: a row-wise operator that gives such a value from
/// such values keeps the tokens apart, because two of them at different places would give two dimensions, and
/// a cat along it another size.
bool hasOneRowPerToken(const TensorMeta& meta, const std::string& tokens) {
    std::ptrdiff_t count = 0;
    for (const SymInt& size : meta.shape) {
        if (size.isConstant())
            continue;
        if (size.text() != tokens)
            return false;
        ++count;
    }
    return count == 1;
}

/// The input of the positions, int64 [1, T]; kNone without one.
ValueId positionsOf(const Graph& graph) {
    for (const Input& input : graph.inputs) {
        const TensorMeta& meta = graph.value(input.value).meta;
        if (input.kind == Input::Kind::user && graph.value(input.value).name == "position_ids" &&
            meta.dtype == ScalarType::i64 && meta.shape.size() == 2 && !meta.shape[1].isConstant())
            return input.value;
    }
    return kNone;
}

bool isRowWise(const std::string& op) {
    return isElementwise(baseName(op)) || op == "aten.unsqueeze.default" || op == "aten.transpose.int" ||
           op == "aten.cat.default";
}

bool keepsTokensApart(const Graph& graph, const BoundNode& node, const std::string& tokens) {
    return isRowWise(graph.node(node.node).op) &&
           std::ranges::none_of(node.slots, [](const auto& slot) { return !slot.integers.empty(); }) &&
           std::ranges::all_of(node.outputs,
                               [&](ValueId id) { return hasOneRowPerToken(graph.value(id).meta, tokens); });
}

} // namespace

PositionPlan planPositions(const Graph& graph, const std::vector<BoundNode>& nodes,
                           const std::function<bool(ValueId)>& isConstant) {
    PositionPlan plan;
    plan.isNode.resize(nodes.size());
    plan.positions = positionsOf(graph);
    if (plan.positions == kNone)
        return plan;
    const std::string tokens = graph.value(plan.positions).meta.shape[1].text();
    std::vector<bool> fromPositions(graph.values.size());
    fromPositions[at(plan.positions)] = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto inputs = nodes[i].inputs();
        const auto isOurs = [&](ValueId id) { return fromPositions[at(id)]; };
        if (std::ranges::none_of(inputs, isOurs) || !keepsTokensApart(graph, nodes[i], tokens) ||
            !std::ranges::all_of(inputs, [&](ValueId id) { return isOurs(id) || isConstant(id); }))
            continue;
        plan.isNode[i] = true;
        plan.nodes.push_back(static_cast<std::int32_t>(i));
        for (const ValueId id : nodes[i].outputs)
            fromPositions[at(id)] = true;
    }
    std::vector<bool> isRow(graph.values.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const ValueId id : nodes[i].inputs())
            if (!plan.isNode[i] && fromPositions[at(id)] && id != plan.positions)
                isRow[at(id)] = true;
    for (std::size_t id = 0; id < isRow.size(); ++id)
        if (isRow[id])
            plan.rows.push_back(static_cast<ValueId>(id));
    const bool usable =
        std::ranges::all_of(plan.rows,
                            [&](ValueId id) {
                                const SymShape& shape = graph.value(id).meta.shape;
                                return shape.size() >= 2 && shape[0].isConstant() &&
                                       shape[0].constant() == 1 && !shape[1].isConstant();
                            }) &&
        std::ranges::none_of(graph.outputs, [&](ValueId id) { return fromPositions[at(id)]; });
    if (!usable || plan.rows.empty()) {
        plan.nodes.clear();
        plan.rows.clear();
        plan.isNode.assign(nodes.size(), false);
    }
    return plan;
}

bool PositionRows::cover(const at::Tensor& positions, const Compute& compute) {
    if (positions.numel() == 0)
        return false;
    const auto* wanted = positions.const_data_ptr<std::int64_t>();
    const auto [least, most] = std::minmax_element(wanted, wanted + positions.numel());
    if (*least < 0)
        return false;
    if (*most < m_count)
        return true;
    if (*most >= kMost || m_tooLarge)
        return false;
    std::int64_t count = kFewest;
    while (count <= *most)
        count *= 2;
    std::vector<at::Tensor> rows = compute(at::arange(count, at::kLong).unsqueeze(0));
    std::int64_t bytes = 0;
    for (at::Tensor& row : rows) {
        row = row.contiguous();
        bytes += static_cast<std::int64_t>(row.nbytes());
    }
    m_tooLarge = bytes > kMostBytes;
    if (m_tooLarge)
        return false;
    m_rows = std::move(rows);
    m_count = count;
    return true;
}

at::Tensor PositionRows::gather(std::size_t index, const at::Tensor& positions, at::Tensor to) const {
    const at::Tensor& rows = m_rows[index];
    at::DimVector sizes(rows.sizes());
    sizes[1] = positions.numel();
    if (!to.defined())
        to = at::empty(sizes, rows.scalar_type());
    TORCH_CHECK(to.scalar_type() == rows.scalar_type() && to.is_contiguous() && to.sizes() == sizes,
                "The rows of the positions are ", sizes, " of ", rows.scalar_type(), ", not ", to.sizes(),
                " of ", to.scalar_type(), ".");
    const auto rowBytes = static_cast<std::size_t>(rows.stride(1)) * rows.element_size();
    const auto* from = static_cast<const std::byte*>(rows.const_data_ptr());
    auto* target = static_cast<std::byte*>(to.mutable_data_ptr());
    const auto* wanted = positions.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < positions.numel(); ++i)
        std::memcpy(target + static_cast<std::size_t>(i) * rowBytes,
                    from + static_cast<std::size_t>(wanted[i]) * rowBytes, rowBytes);
    return to;
}

} // namespace workbench
