#pragma once

#include "fusion/match/search.h"

#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

/// Building blocks of patterns: what a value must be made of, read from the value down to its operands.
///
///     const Expression mean =
///         op("aten.mean", "the mean of the squares", {square(bind("x"))}, {numbers("dim", ...)});
///
/// Every block asks its conditions through Search::require, so that a pattern that fails says where and why.

namespace workbench {

/// Does `value`, as used by node `user`, match? Takes the nodes that it matched.
using Expression = std::function<bool(Search&, ValueId value, NodeId user)>;
/// Does the node satisfy a condition on its attributes?
using Condition = std::function<bool(Search&, NodeId)>;

/// Any value.
Expression any();
/// Captures the value when `inner` matches it.
Expression bind(std::string_view capture, Expression inner = any());
/// The value that was captured before.
Expression same(std::string_view capture, std::string_view expected);
/// Made by the op (base name, any overload) with exactly these tensor operands in order. `what` completes
/// "expected ...".
Expression op(std::string_view name, std::string_view what, std::vector<Expression> operands,
              std::vector<Condition> conditions = {});
/// The same for two operands that may be swapped.
Expression commutative(std::string_view name, std::string_view what, Expression first, Expression second,
                       std::vector<Condition> conditions = {});
/// The first alternative that matches.
Expression anyOf(std::initializer_list<Expression> alternatives);
/// Like op() with one operand, but the node is only removed when nothing else uses it.
Expression freeOp(std::string_view name, std::string_view what, Expression operand,
                  std::vector<Condition> conditions = {});
/// A parameter of the model.
Expression parameter(std::string_view capture, std::string_view expected);

/// The argument is this number.
Condition is(std::string_view argument, double value);
/// The argument is a constant number, kept as a fact.
Condition constant(std::string_view argument, std::string_view fact, std::string_view expected);
/// The argument is absent, none or false.
Condition absent(std::string_view argument);
Condition isTrue(std::string_view argument, std::string_view expected);
/// A dim argument (a number or a list of one) that names the last dim of the node's first operand.
Condition lastDim(std::string_view argument, std::string_view expected);

/// Matches the value that node `root` makes.
bool matches(Search& search, NodeId root, const Expression& expression);

} // namespace workbench
