#pragma once

#include "app/diagram/diagram.h"
#include "fusion/fusion.h"

#include <map>
#include <string>
#include <vector>

namespace workbench {

/// Numbers laid over the nodes of a graph; a module shows the total of its nodes.
struct Overlay {
    enum class Total { sum, max };
    std::string name;            ///< "weights", "error of the rewrite", "measured time"
    std::string unit;            ///< "B", "", "ms"
    std::vector<double> perNode; ///< by node id; NaN: none
    Total total = Total::sum;
};

/// NaN when none of the box's nodes has a number.
double totalOf(const Overlay& overlay, const Box& box);
/// The largest total among the boxes that are not expanded; 0 when there is none: the scale's end.
double largestTotal(const Overlay& overlay, const Diagram& diagram);
/// "7.1 MB", "0.42 ms", "1.2e-06", with the overlay's unit.
std::string overlayText(const Overlay& overlay, double value);

/// Bytes of the weights that each node reads; a weight that several nodes read counts at the first one.
Overlay weightBytes(const Graph& graph);
/// Numbers by the name of the first value that a node makes; the others have none.
Overlay nodeNumbers(std::string name, std::string unit, Overlay::Total total, const Graph& graph,
                    const std::map<std::string, double, std::less<>>& numberOfValue);
/// Numbers of sites on the nodes that stand for them: of the canonical graph, or of the rewritten one where
/// `rewritten` is given (replacements). Sites without a number are left out.
Overlay siteNumbers(std::string name, std::string unit, Overlay::Total total, const Graph& graph,
                    const Analysis& analysis, const std::map<std::size_t, double>& numberOfSite,
                    const Rewritten* rewritten);

} // namespace workbench
