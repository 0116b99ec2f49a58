#pragma once

#include "core/graph/graph.h"

namespace workbench {

/// The same outputs with less work where a graph computes rows that its end throws away. A language model
/// picks the tokens whose logits are wanted behind its last layer; picked behind the last attention instead,
/// a prompt's other tokens skip what follows it:
///
///     before  %y [1, T, H] = add(%a, %x), %picked [1, L, H] = index(%y, [none, %rows])
///     after   %a_rows = index(%a, [none, %rows]), %x_rows = index(%x, [none, %rows]),
///             %y [1, L, H] = add(%a_rows, %x_rows), %picked = view(%y)
///
/// Only operators that treat every token alone are moved behind the pick, and only those whose values nothing
/// else reads. Values keep their ids and names; nodes get other ids. A graph where there is nothing to move
/// is returned as it is.
Graph pickRowsEarly(Graph graph);

} // namespace workbench
