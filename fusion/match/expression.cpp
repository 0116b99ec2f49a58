#include "fusion/match/expression.h"

#include <algorithm>

namespace workbench {
namespace {

std::string argumentText(const Search& search, NodeId node, std::string_view name) {
    const Graph& graph = search.view().graph();
    return std::string(name) + "=" + describe(graph, argument(graph.node(node), name));
}

bool hold(Search& search, NodeId node, const std::vector<Condition>& conditions) {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const Condition& condition) { return condition(search, node); });
}

/// The tensor operands, when there are `count`.
bool operandsOf(Search& search, NodeId node, std::size_t count, std::string_view what, Operands& found) {
    found = operands(search.view().node(node));
    return search.require(found.size() == count, node, what, [&] {
        return search.view().node(node).op + " of " + std::to_string(found.size()) + " tensors";
    });
}

/// The op with these operands in order; `take` is how the search keeps its node.
Expression ordered(std::string_view name, std::string_view what, std::vector<Expression> expressions,
                   std::vector<Condition> conditions, void (Search::*take)(NodeId)) {
    return [=](Search& search, ValueId value, NodeId user) {
        Operands found;
        if (!search.requireOp(value, name, user, what))
            return false;
        const NodeId node = search.view().producer(value);
        if (!hold(search, node, conditions) || !operandsOf(search, node, expressions.size(), what, found))
            return false;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (!expressions[i](search, found[i], node))
                return false;
        (search.*take)(node);
        return true;
    };
}

} // namespace

Expression any() {
    return [](Search&, ValueId, NodeId) { return true; };
}

Expression bind(std::string_view capture, Expression inner) {
    return [capture, inner = std::move(inner)](Search& search, ValueId value, NodeId user) {
        if (!inner(search, value, user))
            return false;
        search.capture(capture, value);
        return true;
    };
}

Expression same(std::string_view capture, std::string_view expected) {
    return [capture, expected](Search& search, ValueId value, NodeId user) {
        return search.require(value == search.value(capture), user, expected,
                              [&] { return search.view().describe(value); });
    };
}

Expression op(std::string_view name, std::string_view what, std::vector<Expression> expressions,
              std::vector<Condition> conditions) {
    return ordered(name, what, std::move(expressions), std::move(conditions), &Search::take);
}

Expression commutative(std::string_view name, std::string_view what, Expression first, Expression second,
                       std::vector<Condition> conditions) {
    return [=](Search& search, ValueId value, NodeId user) {
        Operands found;
        if (!search.requireOp(value, name, user, what))
            return false;
        const NodeId node = search.view().producer(value);
        if (!hold(search, node, conditions) || !operandsOf(search, node, 2, what, found))
            return false;
        const Search::Mark mark = search.mark();
        const auto inOrder = [&](ValueId a, ValueId b) {
            return first(search, a, node) && second(search, b, node);
        };
        if (!inOrder(found[0], found[1]) && !search.restore(mark) && !inOrder(found[1], found[0]))
            return search.restore(mark);
        search.take(node);
        return true;
    };
}

Expression anyOf(std::initializer_list<Expression> alternatives) {
    return [alternatives = std::vector(alternatives)](Search& search, ValueId value, NodeId user) {
        const Search::Mark mark = search.mark();
        for (const Expression& alternative : alternatives) {
            if (alternative(search, value, user))
                return true;
            search.restore(mark);
        }
        return false;
    };
}

Expression freeOp(std::string_view name, std::string_view what, Expression operand,
                  std::vector<Condition> conditions) {
    return ordered(name, what, {std::move(operand)}, std::move(conditions), &Search::takeIfFree);
}

Expression parameter(std::string_view capture, std::string_view expected) {
    return [=](Search& search, ValueId value, NodeId user) {
        if (!search.require(search.view().isParameter(value), user, expected,
                            [&] { return search.view().describe(value); }))
            return false;
        search.capture(capture, value);
        return true;
    };
}

Condition is(std::string_view name, double value) {
    return [=](Search& search, NodeId node) {
        const auto given = number(argument(search.view().node(node), name));
        const auto whole = static_cast<std::int64_t>(value);
        const std::string text =
            static_cast<double>(whole) == value ? std::to_string(whole) : std::to_string(value);
        return search.require(given == value, node, std::string(name) + "=" + text,
                              [&] { return argumentText(search, node, name); });
    };
}

Condition constant(std::string_view name, std::string_view fact, std::string_view expected) {
    return [=](Search& search, NodeId node) {
        const auto given = number(argument(search.view().node(node), name));
        if (!search.require(given.has_value(), node, expected,
                            [&] { return argumentText(search, node, name); }))
            return false;
        search.fact(fact, *given);
        return true;
    };
}

Condition absent(std::string_view name) {
    return [=](Search& search, NodeId node) {
        return search.require(isAbsent(argument(search.view().node(node), name)), node,
                              "no " + std::string(name), [&] { return argumentText(search, node, name); });
    };
}

Condition isTrue(std::string_view name, std::string_view expected) {
    return [=](Search& search, NodeId node) {
        const ArgumentValue* given = argument(search.view().node(node), name);
        const auto* flag = given ? std::get_if<bool>(given) : nullptr;
        return search.require(flag && *flag, node, expected,
                              [&] { return argumentText(search, node, name); });
    };
}

Condition lastDim(std::string_view name, std::string_view expected) {
    return [=](Search& search, NodeId node) {
        const Node& made = search.view().node(node);
        const auto dims = integers(argument(made, name));
        const Operands inputs = operands(made);
        const std::size_t rank = inputs.empty() ? 0 : search.view().meta(inputs.front()).shape.size();
        const bool last = dims && dims->size() == 1 && rank > 0 &&
                          wrapDim(dims->front(), rank) == static_cast<std::int64_t>(rank) - 1;
        return search.require(last, node, expected, [&] { return argumentText(search, node, name); });
    };
}

bool matches(Search& search, NodeId root, const Expression& expression) {
    return expression(search, search.view().result(root), root);
}

} // namespace workbench
