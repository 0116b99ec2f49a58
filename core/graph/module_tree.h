#pragma once

#include "core/graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// A module, or several alike ones folded into one. Counts are those of one of them, submodules included.
///
///     model.layers, 28 alike:   {label "0-27", path "model.layers.0", count 28}
///     one odd one among four:   {label "0-1, 3", count 3}, {label "2", count 1}
struct ModuleTree {
    std::string label;     ///< last part of the path, "" for the root; numbers of folded ones as ranges
    std::string path;      ///< of the first one
    std::string className; ///< "" for containers that are never called themselves
    std::int64_t count = 1;
    std::vector<std::string> paths; ///< of all of them, in order
    std::int64_t nodes = 0;
    std::int64_t parameterBytes =
        0; ///< every parameter of the graph counts once, at the module that owns its name
    std::vector<ModuleTree> children;
};

/// The tree of all modules that have nodes or parameters. Siblings with numbers for names ("layers.0",
/// "layers.1") are folded when they are alike: same class, operators, arguments, shapes, wiring and parameter
/// names. The layer number that an attention op carries does not count.
ModuleTree buildModuleTree(const Graph& graph);

} // namespace workbench
