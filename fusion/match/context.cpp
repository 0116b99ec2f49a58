#include "fusion/match/context.h"

#include "core/graph/op_classes.h"
#include "fusion/match/pattern.h"

#include <algorithm>

namespace workbench {
namespace {

/// Ops between the two products of a spelled-out attention that keep the scores' place: value in `self`.
bool keepsScores(std::string_view op) {
    return op == "aten._to_copy" || op == "aten.expand" || op == "aten.reshape" || op == "aten.add" ||
           op == "aten.mul" || op == "aten.div" || op == "aten.tanh" || op == "aten.masked_fill" ||
           op == "aten.where" || op == "aten.sub" || op == "aten.dropout" || op == "aten.cat" ||
           op == "aten.slice";
}

/// The product that the scores come from; kNone when there is none within a few steps.
NodeId scoreProduct(const GraphView& view, ValueId value, int steps) {
    const NodeId node = view.producer(value);
    if (node == kNone || steps == 0)
        return kNone;
    if (isMatmul(view.op(node)))
        return node;
    if (!keepsScores(view.op(node)))
        return kNone;
    for (const ValueId operand : operands(view.node(node)))
        if (const NodeId found = scoreProduct(view, operand, steps - 1); found != kNone)
            return found;
    return kNone;
}

/// The product whose first operand is the probabilities.
NodeId valueProduct(const GraphView& view, ValueId probabilities) {
    for (int steps = 0; steps < 6; ++steps) {
        const NodeId user = view.onlyUser(probabilities);
        if (user == kNone)
            return kNone;
        if (isMatmul(view.op(user)))
            return operands(view.node(user)).front() == probabilities ? user : kNone;
        if (!keepsScores(view.op(user)))
            return kNone;
        probabilities = view.result(user);
    }
    return kNone;
}

std::optional<AttentionPlace> spelledOut(const GraphView& view, NodeId softmax) {
    const NodeId scores = scoreProduct(view, operand(view.node(softmax), "self"), 10);
    const NodeId values = valueProduct(view, view.result(softmax));
    if (scores == kNone || values == kNone)
        return std::nullopt;
    const auto product = operands(view.node(scores));
    return AttentionPlace{softmax, product[0], product[1], operands(view.node(values))[1], false};
}

std::vector<AttentionPlace> findAttentions(const GraphView& view) {
    std::vector<AttentionPlace> places;
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        const Node& node = view.node(id);
        const std::string_view op = view.op(id);
        if (isFusedAttention(op)) {
            places.push_back(
                {id, operand(node, "query"), operand(node, "key"), operand(node, "value"), true});
        } else if (isSoftmax(op)) {
            if (const auto place = spelledOut(view, id))
                places.push_back(*place);
        }
    }
    return places;
}

std::vector<NodeId> findProjections(const GraphView& view) {
    std::vector<NodeId> made(view.graph().values.size(), kNone);
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const Node& node = view.graph().nodes[i];
        NodeId joined = kNone;
        if (view.op(static_cast<NodeId>(i)) == "aten.linear") {
            joined = static_cast<NodeId>(i);
        } else {
            for (const ValueId operand : operands(node)) {
                const NodeId other = made[static_cast<std::size_t>(operand)];
                if (other != kNone && other != joined)
                    joined = joined == kNone ? other : MatchContext::kSeveral;
            }
        }
        for (const ValueId output : node.outputs)
            made[static_cast<std::size_t>(output)] = joined;
    }
    return made;
}

} // namespace

const Match* MatchContext::maker(std::string_view pattern, ValueId output) const {
    auto known = m_makers.find(pattern);
    if (known == m_makers.end()) {
        Makers made;
        const Pattern& inner = *findPattern(pattern);
        for (const NodeId place : inner.places(*this)) {
            Search search(*this, place);
            if (inner.match(search, place) && search.settle() && !search.match().present)
                made.emplace(search.match().outputs.front(), search.match());
        }
        known = m_makers.emplace(inner.name, std::move(made)).first;
    }
    const auto found = known->second.find(output);
    return found == known->second.end() ? nullptr : &found->second;
}

const std::vector<AttentionPlace>& MatchContext::attentions() const {
    if (!m_attentions)
        m_attentions = findAttentions(m_view);
    return *m_attentions;
}

const AttentionPlace* MatchContext::attention(NodeId node) const {
    for (const AttentionPlace& place : attentions())
        if (place.node == node)
            return &place;
    return nullptr;
}

NodeId MatchContext::projection(ValueId value) const {
    if (m_projections.empty() && !m_view.graph().values.empty())
        m_projections = findProjections(m_view);
    return m_projections[static_cast<std::size_t>(value)];
}

bool comesFromScores(const GraphView& view, ValueId value) {
    return scoreProduct(view, value, 10) != kNone;
}

std::vector<NodeId> attentionPlaces(const MatchContext& context) {
    std::vector<NodeId> places;
    for (const AttentionPlace& place : context.attentions())
        places.push_back(place.node);
    return places;
}

} // namespace workbench
