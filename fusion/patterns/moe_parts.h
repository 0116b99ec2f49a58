#pragma once

#include "fusion/match/search.h"

#include <string>

/// The two halves of the moe pattern, found one after the other.

namespace workbench {

/// The products of the experts that the pick at the place chooses: pick, product, halves, activation, second
/// product. Captures the weights gate_up and down, ids (the indices as the picks read them), rows (the
/// columns that go in), both, active and outputs [pairs, hidden]; fact activation; role act.
bool matchExpertProducts(Search& search, NodeId place);

/// From the experts' outputs to the tokens again: routing weights, the sum over a token's experts, the tokens
/// and indices that the pairs are made of, and where all that rounds. Captures weights, weighted, y, x,
/// indices and result; roles weigh and sum.
bool matchRouting(Search& search, NodeId place);

/// "aten.add (%x) and 1 more", "nothing reads it": who reads the value.
std::string readersText(const GraphView& view, ValueId value);
/// "parameter %w [8, 16, 4]"
std::string shapeText(const GraphView& view, ValueId value);

} // namespace workbench
