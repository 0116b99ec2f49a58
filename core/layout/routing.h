#pragma once

#include "core/layout/flat_problem.h"

namespace workbench {

/// Draws the edges of a solution anew, through the same gaps between boxes: they leave a box below and arrive
/// above it, go straight down past a row of boxes, and sideways between rows alone. Edges that lead upwards
/// stay as they are.
void routeInRows(const FlatProblem& problem, FlatSolution& solution);

} // namespace workbench
