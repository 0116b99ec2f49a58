#include "fusion/coverage.h"

#include "core/graph/module_path.h"
#include "core/graph/op_classes.h"
#include "fusion/experts.h"
#include "fusion/match/pattern.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace workbench {
namespace {

template <std::size_t N>
bool oneOf(std::string_view op, const std::array<std::string_view, N>& ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

/// Activations, and the fused op that holds one.
bool activates(std::string_view op) {
    return isActivation(op) || op == "workbench.act_and_mul";
}

/// Ops that work on each element or only move elements: a chain of them leads from product to activation to
/// product.
bool isPassage(std::string_view op) {
    static constexpr std::array<std::string_view, 10> ops{
        "aten.add",      "aten.mul",   "aten.sub", "aten.div",   "aten.pow",
        "aten._to_copy", "aten.clamp", "aten.neg", "aten.index", "aten.minimum"};
    return oneOf(op, ops) || isView(op) || activates(op);
}

/// Which nodes are reached from a product, through passages, before the next product.
std::vector<bool> afterProduct(const GraphView& view) {
    std::vector<bool> reached(view.graph().nodes.size());
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (!isPassage(view.op(static_cast<NodeId>(i))))
            continue;
        for (const ValueId value : operands(view.graph().nodes[i])) {
            const NodeId made = view.producer(value);
            reached[i] =
                reached[i] ||
                (made != kNone && (isProduct(view.op(made)) || reached[static_cast<std::size_t>(made)]));
        }
    }
    return reached;
}

std::vector<bool> beforeProduct(const GraphView& view) {
    std::vector<bool> reaches(view.graph().nodes.size());
    for (std::size_t i = reaches.size(); i-- > 0;) {
        if (!isPassage(view.op(static_cast<NodeId>(i))))
            continue;
        for (const ValueId value : view.graph().nodes[i].outputs)
            for (const Use& use : view.uses(value))
                reaches[i] = reaches[i] ||
                             (use.node != kNone &&
                              (isProduct(view.op(use.node)) || reaches[static_cast<std::size_t>(use.node)]));
    }
    return reaches;
}

std::vector<std::string_view> parts(std::string_view path) {
    std::vector<std::string_view> result;
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        result.push_back(path.substr(0, dot));
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return result;
}

/// Softmax over products that weighs another product: attention without an attention op.
bool isSpelledOutAttention(const GraphView& view, NodeId id, const std::vector<bool>& after) {
    if (!isSoftmax(view.op(id)))
        return false;
    const auto inputs = operands(view.node(id));
    const NodeId made = inputs.empty() ? kNone : view.producer(inputs.front());
    if (made == kNone ||
        (!after[static_cast<std::size_t>(made)] && !isProduct(view.op(made)) &&
         view.op(made) != "aten.masked_fill" && view.op(made) != "aten.where" && view.op(made) != "aten.cat"))
        return false;
    ValueId value = view.result(id);
    for (int steps = 0; steps < 6; ++steps) {
        const NodeId user = view.onlyUser(value);
        if (user == kNone)
            return false;
        if (isMatmul(view.op(user)))
            return operands(view.node(user)).front() == value;
        if (!isPassage(view.op(user)) && view.op(user) != "aten.dropout")
            return false;
        value = view.result(user);
    }
    return false;
}

std::vector<NodeId> attentionOps(const GraphView& view, const std::vector<bool>& after) {
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (isFusedAttention(view.op(id)) || isSpelledOutAttention(view, id, after))
            found.push_back(id);
    }
    return found;
}

bool isNorm(std::string_view op) {
    return op == "aten.rsqrt" || isTorchNorm(op) || isFusedNorm(op);
}

std::int64_t countNorms(const GraphView& view) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i)
        count += isNorm(view.op(static_cast<NodeId>(i)));
    return count;
}

std::string_view nameOf(Counted counted) {
    switch (counted) {
    case Counted::attentions:
        return "attention ops";
    case Counted::feedForwardBlocks:
        return "feed-forward blocks";
    case Counted::norms:
        return "places where a reciprocal square root or a norm op occurs";
    case Counted::experts:
        return "choices of experts: indices that pick out of 3-D weights";
    }
    __builtin_unreachable();
}

std::vector<FeedForwardBlock> blocks(const GraphView& view, const std::vector<bool>& after,
                                     const std::vector<NodeId>& attentions) {
    const std::vector<bool> before = beforeProduct(view);
    std::vector<FeedForwardBlock> found;
    std::unordered_map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (!activates(view.op(id)) || !after[i] || !before[i])
            continue;
        const std::string_view path = view.graph().modulePath(id), block = feedForwardModule(path);
        const bool isLayer = isNumberPart(lastPart(block));
        const bool attends = !block.empty() && !isLayer &&
                             std::any_of(attentions.begin(), attentions.end(), [&](NodeId attention) {
                                 return isWithin(view.graph().modulePath(attention), block);
                             });
        if (attends)
            continue;
        const auto [place, isNew] = index.emplace(block, found.size());
        if (isNew)
            found.push_back({std::string(block), {}});
        found[place->second].activations.push_back(id);
    }
    return found;
}

} // namespace

std::string_view feedForwardModule(std::string_view path) {
    const std::vector<std::string_view> all = parts(path);
    std::size_t length = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        length += all[i].size() + (i > 0);
        if (i > 0 && isNumberPart(all[i - 1])) {
            if (i + 1 < all.size() && isNumberPart(all[i + 1]))
                length += 1 + all[i + 1].size();
            return path.substr(0, length);
        }
    }
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos || isNumberPart(lastPart(path)) ? path : path.substr(0, dot);
}

std::vector<FeedForwardBlock> feedForwardBlocks(const GraphView& view) {
    const std::vector<bool> after = afterProduct(view);
    return blocks(view, after, attentionOps(view, after));
}

std::vector<Coverage> countCoverage(const GraphView& view) {
    const std::vector<bool> after = afterProduct(view);
    const std::vector<NodeId> attentions = attentionOps(view, after);
    const auto places = [&](Counted counted) -> std::int64_t {
        switch (counted) {
        case Counted::attentions:
            return static_cast<std::int64_t>(attentions.size());
        case Counted::feedForwardBlocks:
            return static_cast<std::int64_t>(blocks(view, after, attentions).size());
        case Counted::norms:
            return countNorms(view);
        case Counted::experts:
            return static_cast<std::int64_t>(expertBlocks(view).size());
        }
        __builtin_unreachable();
    };
    std::vector<Coverage> coverage;
    for (const Pattern& pattern : patterns())
        coverage.push_back(
            {std::string(pattern.name), 0, places(pattern.counted), std::string(nameOf(pattern.counted))});
    return coverage;
}

} // namespace workbench
