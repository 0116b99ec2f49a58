#include "fusion/patterns/mask_proof.h"

#include "fusion/match/dimension.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

namespace workbench {
namespace {

/// An integer tensor whose elements are an affine function of their own indices: sum of factor[axis] *
/// index[axis], plus offset.
struct Affine {
    std::vector<std::int64_t> factors; ///< one per axis
    std::int64_t offset = 0;

    bool isConstant() const {
        return std::all_of(factors.begin(), factors.end(), [](std::int64_t factor) { return factor == 0; });
    }
};

/// A boolean tensor: true where all of `conditions` are at least 0, or (negated) where one of them is not.
struct Predicate {
    std::vector<Affine> conditions;
    bool negated = false;
};

/// A float tensor of two numbers, told apart by a predicate.
struct Choice {
    Predicate where;
    double yes = 0, no = 0;
};

using Known = std::variant<std::monostate, Affine, Predicate, Choice>;

/// Aligns axes at the right, as broadcasting does.
Affine broadcast(const Affine& value, std::size_t rank) {
    Affine result;
    result.factors.assign(rank, 0);
    std::copy(value.factors.begin(), value.factors.end(),
              result.factors.end() - static_cast<std::ptrdiff_t>(value.factors.size()));
    result.offset = value.offset;
    return result;
}

/// a + sign * b.
Affine combine(const Affine& a, const Affine& b, std::int64_t sign, std::size_t rank) {
    Affine result = broadcast(a, rank);
    const Affine other = broadcast(b, rank);
    for (std::size_t i = 0; i < rank; ++i)
        result.factors[i] += sign * other.factors[i];
    result.offset += sign * other.offset;
    return result;
}

Affine shifted(Affine value, std::int64_t by) {
    value.offset += by;
    return value;
}

Affine negative(const Affine& value) {
    Affine result = value;
    for (std::int64_t& factor : result.factors)
        factor = -factor;
    result.offset = -result.offset;
    return result;
}

/// Not (e >= 0) is -e - 1 >= 0: a predicate of one condition can be written either way.
Predicate written(const Predicate& flags, bool negated) {
    if (flags.negated == negated || flags.conditions.size() != 1)
        return flags;
    return {{shifted(negative(flags.conditions.front()), -1)}, negated};
}

/// Follows values; each is looked at once.
class Interpreter {
public:
    explicit Interpreter(const GraphView& view) : m_view(view) {}

    const Known& of(ValueId value) {
        if (const auto known = m_known.find(value); known != m_known.end())
            return known->second;
        const NodeId node = m_view.producer(value);
        Known result;
        if (node != kNone && m_view.node(node).outputs.size() == 1)
            result = compute(node);
        return m_known.emplace(value, std::move(result)).first->second;
    }

private:
    std::size_t rank(NodeId node) const { return m_view.meta(m_view.result(node)).shape.size(); }
    const Affine* affine(ValueId value) { return value == kNone ? nullptr : std::get_if<Affine>(&of(value)); }
    const Predicate* predicate(ValueId value) {
        return value == kNone ? nullptr : std::get_if<Predicate>(&of(value));
    }

    Known compute(NodeId id) {
        const Node& node = m_view.node(id);
        std::string_view op = m_view.op(id);
        if (!op.starts_with("aten."))
            return {};
        op.remove_prefix(5);
        for (const auto part : {&Interpreter::indices, &Interpreter::shapes, &Interpreter::arithmetic,
                                &Interpreter::comparisons, &Interpreter::logic, &Interpreter::constants,
                                &Interpreter::choices}) {
            Known result = (this->*part)(id, node, op);
            if (!std::holds_alternative<std::monostate>(result))
                return flattened(std::move(result), id);
        }
        return {};
    }

    /// An axis of size one has index 0 only.
    Known flattened(Known known, NodeId id) {
        if (auto* value = std::get_if<Affine>(&known)) {
            const SymShape& shape = m_view.meta(m_view.result(id)).shape;
            for (std::size_t i = 0; i < shape.size() && i < value->factors.size(); ++i)
                if (shape[i] == SymInt(1))
                    value->factors[i] = 0;
        }
        return known;
    }

    Known indices(NodeId id, const Node& node, std::string_view op) {
        if (op == "arange")
            return isAbsent(argument(node, "start")) && isAbsent(argument(node, "step")) &&
                           m_view.meta(m_view.result(id)).dtype == ScalarType::i64
                       ? Known(Affine{{1}, 0})
                       : Known();
        if (op == "index")
            return indexed(id, node);
        if (op == "diff") {
            // The difference of neighbours is the factor, if the value before the first one fits.
            const Affine *value = affine(operand(node, "self")), *before = affine(operand(node, "prepend"));
            if (!value || !before || value->factors.empty() || !isAbsent(argument(node, "append")) ||
                number(argument(node, "n")).value_or(1) != 1)
                return {};
            const std::int64_t step = value->factors.back();
            Affine rest = *value;
            rest.factors.back() = 0;
            const Affine gap = combine(rest, *before, -1, value->factors.size());
            return gap.isConstant() && gap.offset == step
                       ? Known(Affine{std::vector<std::int64_t>(value->factors.size(), 0), step})
                       : Known();
        }
        if (op == "cumsum") {
            const Predicate* flags = predicate(operand(node, "self"));
            return flags && isNever(*flags) ? Known(Affine{std::vector<std::int64_t>(rank(id), 0), 0})
                                            : Known();
        }
        return {};
    }

    /// Advanced indexing of every axis by affine tensors.
    Known indexed(NodeId id, const Node& node) {
        const Affine* self = affine(operand(node, "self"));
        const ArgumentValue* given = argument(node, "indices");
        const auto* list = given ? std::get_if<std::vector<ValueRef>>(given) : nullptr;
        if (!self || !list || list->size() != self->factors.size())
            return {};
        Affine result{std::vector<std::int64_t>(rank(id), 0), self->offset};
        for (std::size_t i = 0; i < list->size(); ++i) {
            const Affine* index = affine((*list)[i].id);
            if (!index || index->factors.size() > rank(id))
                return {};
            Affine part = *index;
            for (std::int64_t& factor : part.factors)
                factor *= self->factors[i];
            part.offset *= self->factors[i];
            result = combine(result, part, 1, rank(id));
        }
        return result;
    }

    Known shapes(NodeId id, const Node& node, std::string_view op) {
        const ValueId self = operand(node, "self");
        if (self == kNone)
            return {};
        if (op == "unsqueeze") {
            const auto at = dimension(argument(node, "dim"), rank(id));
            if (!at || !haveAxes(of(self), *at))
                return {};
            return mapAffine(of(self), [&](Affine value) {
                value.factors.insert(value.factors.begin() + static_cast<std::ptrdiff_t>(*at), 0);
                return value;
            });
        }
        if (op == "expand" || op == "_to_copy") {
            if (op == "_to_copy" && isFloatingPoint(m_view.meta(m_view.result(id)).dtype)) {
                const Predicate* flags = predicate(self);
                return flags                                      ? Known(Choice{*flags, 1, 0})
                       : std::holds_alternative<Choice>(of(self)) ? of(self)
                                                                  : Known();
            }
            // A position does not fit into a narrow integer: it would wrap around.
            const ScalarType from = m_view.meta(self).dtype, to = m_view.meta(m_view.result(id)).dtype;
            const bool keeps = from == to || (to != ScalarType::boolean && from != ScalarType::boolean &&
                                              bytesPerElement(to) >= 4);
            return keeps
                       ? mapAffine(of(self), [&](const Affine& value) { return broadcast(value, rank(id)); })
                       : Known();
        }
        if (op == "slice" && integer(argument(node, "step")) == 1 && integer(argument(node, "start"))) {
            const auto dim = dimension(argument(node, "dim"), rank(id));
            const std::int64_t start = *integer(argument(node, "start"));
            if (!dim || start < 0 || !haveAxes(of(self), *dim + 1))
                return {};
            return mapAffine(of(self),
                             [&](Affine value) { return shifted(value, value.factors[*dim] * start); });
        }
        return {};
    }

    /// Whether every affine function inside has at least so many axes: shapes in an archive may contradict
    /// each other.
    bool haveAxes(const Known& known, std::size_t axes) {
        bool all = true;
        mapAffine(known, [&](const Affine& value) {
            all = all && value.factors.size() >= axes;
            return value;
        });
        return all;
    }

    /// Applies a change of indices to every affine function inside.
    template <typename Map>
    Known mapAffine(const Known& known, Map map) {
        const auto onPredicate = [&](Predicate predicate) {
            for (Affine& condition : predicate.conditions)
                condition = map(condition);
            return predicate;
        };
        if (const auto* value = std::get_if<Affine>(&known))
            return Known(map(*value));
        if (const auto* flags = std::get_if<Predicate>(&known))
            return Known(onPredicate(*flags));
        if (const auto* choice = std::get_if<Choice>(&known))
            return Known(Choice{onPredicate(choice->where), choice->yes, choice->no});
        return {};
    }

    Known arithmetic(NodeId id, const Node& node, std::string_view op) {
        if (op != "add" && op != "sub" && op != "mul" && op != "rsub")
            return {};
        if (argument(node, "alpha") && number(argument(node, "alpha")) != 1.0)
            return {};
        const ValueId self = operand(node, "self"), other = operand(node, "other");
        const auto constant = number(argument(node, "other"));
        const std::int64_t sign = op == "sub" ? -1 : 1;
        if (const Affine* a = affine(self); a && (op == "add" || op == "sub")) {
            if (const Affine* b = affine(other))
                return combine(*a, *b, sign, rank(id));
            if (const auto whole = integer(argument(node, "other")))
                return shifted(*a, sign * *whole);
            return {};
        }
        const auto* choice = self == kNone ? nullptr : std::get_if<Choice>(&of(self));
        if (!choice || !constant)
            return {};
        const auto change = [&](double value) {
            return op == "mul"    ? value * *constant
                   : op == "rsub" ? *constant - value
                                  : value + static_cast<double>(sign) * *constant;
        };
        return Choice{choice->where, change(choice->yes), change(choice->no)};
    }

    Known comparisons(NodeId id, const Node& node, std::string_view op) {
        const Affine* a = affine(operand(node, "self"));
        if (!a || (op != "le" && op != "lt" && op != "ge" && op != "gt" && op != "eq" && op != "ne"))
            return {};
        const Affine* tensor = affine(operand(node, "other"));
        const auto whole = integer(argument(node, "other"));
        if (!tensor && !whole)
            return {};
        const Affine difference = tensor ? combine(*a, *tensor, -1, rank(id)) : shifted(*a, -*whole);
        if (op == "ge" || op == "gt")
            return Predicate{{shifted(difference, op == "gt" ? -1 : 0)}, false};
        if (op == "le" || op == "lt")
            return Predicate{{shifted(negative(difference), op == "lt" ? -1 : 0)}, false};
        return Predicate{{difference, negative(difference)}, op == "ne"};
    }

    /// True for no element: one condition is a negative constant, or (negated) all are constants that hold.
    static bool isNever(const Predicate& flags) {
        const auto fails = [](const Affine& condition) {
            return condition.isConstant() && condition.offset < 0;
        };
        const auto holds = [](const Affine& condition) {
            return condition.isConstant() && condition.offset >= 0;
        };
        return flags.negated ? std::all_of(flags.conditions.begin(), flags.conditions.end(), holds)
                             : std::any_of(flags.conditions.begin(), flags.conditions.end(), fails);
    }

    Known logic(NodeId id, const Node& node, std::string_view op) {
        const Predicate* a = predicate(operand(node, "self"));
        if (!a)
            return {};
        if (op == "logical_not" || op == "bitwise_not")
            return Predicate{a->conditions, !a->negated};
        if (op == "tril" || op == "triu") {
            // Ones outside of which everything is false.
            const std::int64_t diagonal = integer(argument(node, "diagonal")).value_or(0);
            if (a->negated || rank(id) < 2)
                return {};
            Affine band{std::vector<std::int64_t>(rank(id), 0), op == "tril" ? diagonal : -diagonal};
            band.factors[rank(id) - 2] = op == "tril" ? 1 : -1;
            band.factors[rank(id) - 1] = op == "tril" ? -1 : 1;
            Predicate result = *a;
            result.conditions.push_back(band);
            return result;
        }
        const Predicate* b = predicate(operand(node, "other"));
        const bool both = op == "__and__" || op == "bitwise_and" || op == "logical_and";
        const bool either = op == "__or__" || op == "bitwise_or" || op == "logical_or";
        if (!b || (!both && !either))
            return {};
        // Not p or not q is not (p and q).
        const Predicate first = written(*a, either), second = written(*b, either);
        if (first.negated != either || second.negated != either)
            return alwaysAnd(id, a, b, both);
        return Predicate{joined(id, first, second), either};
    }

    /// p and true, where true is written as the negation of what never holds.
    Known alwaysAnd(NodeId id, const Predicate* a, const Predicate* b, bool both) {
        if (!a || !b || !both)
            return {};
        const auto always = [](const Predicate& flags) {
            return isNever(Predicate{flags.conditions, !flags.negated});
        };
        if (always(*a))
            return Predicate{joined(id, Predicate{}, *b), b->negated};
        return always(*b) ? Known(Predicate{joined(id, *a, Predicate{}), a->negated}) : Known();
    }

    std::vector<Affine> joined(NodeId id, const Predicate& a, const Predicate& b) {
        std::vector<Affine> conditions;
        for (const Predicate* part : {&a, &b})
            for (const Affine& condition : part->conditions)
                conditions.push_back(broadcast(condition, rank(id)));
        return conditions;
    }

    Known constants(NodeId id, const Node& node, std::string_view op) {
        const bool boolean = m_view.meta(m_view.result(id)).dtype == ScalarType::boolean;
        std::optional<double> value;
        if (op == "ones" || op == "new_ones" || op == "ones_like")
            value = 1;
        else if (op == "zeros" || op == "new_zeros" || op == "zeros_like")
            value = 0;
        else if (op == "full" || op == "new_full" || op == "full_like" || op == "scalar_tensor")
            value = fillValue(node);
        if (!value)
            return {};
        if (boolean)
            return Predicate{{}, *value == 0};
        if (!isFloatingPoint(m_view.meta(m_view.result(id)).dtype))
            return {};
        return Choice{Predicate{}, *value, *value};
    }

    static std::optional<double> fillValue(const Node& node) {
        for (const std::string_view name : {"fill_value", "s"}) {
            const ArgumentValue* given = argument(node, name);
            if (const auto* flag = given ? std::get_if<bool>(given) : nullptr)
                return *flag ? 1.0 : 0.0;
            if (const auto value = number(given))
                return value;
        }
        return std::nullopt;
    }

    /// The one number that all elements are.
    std::optional<double> uniform(const Node& node, std::string_view name) {
        if (const auto value = number(argument(node, name)))
            return value;
        const ValueId id = operand(node, name);
        const auto* choice = id == kNone ? nullptr : std::get_if<Choice>(&of(id));
        return choice && choice->yes == choice->no ? std::optional(choice->yes) : std::nullopt;
    }

    Known choices(NodeId id, const Node& node, std::string_view op) {
        if (op == "where") {
            const Predicate* where = predicate(operand(node, "condition"));
            const auto yes = uniform(node, "self"), no = uniform(node, "other");
            return where && yes && no ? Known(Choice{*where, *yes, *no}) : Known();
        }
        if (op == "masked_fill") {
            const Predicate* where = predicate(operand(node, "mask"));
            const auto yes = uniform(node, "value"), no = uniform(node, "self");
            return where && yes && no ? Known(Choice{*where, *yes, *no}) : Known();
        }
        if ((op == "triu" || op == "tril") && rank(id) >= 2) {
            const auto kept = uniform(node, "self");
            const std::int64_t diagonal = integer(argument(node, "diagonal")).value_or(0),
                               sign = op == "tril" ? 1 : -1;
            Affine band{std::vector<std::int64_t>(rank(id), 0), sign * diagonal};
            band.factors[rank(id) - 2] = sign;
            band.factors[rank(id) - 1] = -sign;
            return kept ? Known(Choice{Predicate{{band}, false}, *kept, 0}) : Known();
        }
        return {};
    }

    const GraphView& m_view;
    std::unordered_map<ValueId, Known> m_known;
};

/// Scores below this vanish in any softmax: a mask of f16 at its least value, -65504, is the mildest in use.
constexpr double kMasked = -1e4;

std::optional<ProvenMask> kindOf(const Predicate& given) {
    const Predicate seen = written(given, false);
    if (seen.negated)
        return std::nullopt;
    bool causal = false;
    std::optional<std::int64_t> window;
    for (const Affine& condition : seen.conditions) {
        if (condition.isConstant()) {
            if (condition.offset < 0)
                return std::nullopt;
            continue;
        }
        const std::size_t rank = condition.factors.size();
        const bool aboutPair =
            rank >= 2 && std::all_of(condition.factors.begin(), condition.factors.end() - 2,
                                     [](std::int64_t f) { return f == 0; });
        if (!aboutPair)
            return std::nullopt;
        const std::int64_t row = condition.factors[rank - 2], column = condition.factors[rank - 1];
        if (row == 1 && column == -1 && condition.offset == 0) {
            causal = true;
        } else if (row == -1 && column == 1 && condition.offset >= 0) {
            window = std::min(window.value_or(condition.offset + 1), condition.offset + 1);
        } else {
            return std::nullopt;
        }
    }
    if (window && !causal)
        return std::nullopt;
    return ProvenMask{window ? "sliding" : causal ? "causal" : "full", window.value_or(0)};
}

} // namespace

std::optional<ProvenMask> proveMask(const GraphView& view, ValueId mask, bool inverted) {
    Interpreter interpreter(view);
    const Known& known = interpreter.of(mask);
    if (const auto* seen = std::get_if<Predicate>(&known))
        return kindOf(Predicate{seen->conditions, seen->negated != inverted});
    const auto* choice = std::get_if<Choice>(&known);
    if (!choice)
        return std::nullopt;
    if (choice->yes == 0 && choice->no <= kMasked)
        return kindOf(choice->where);
    if (choice->no == 0 && choice->yes <= kMasked)
        return kindOf(Predicate{choice->where.conditions, !choice->where.negated});
    return std::nullopt;
}

} // namespace workbench
