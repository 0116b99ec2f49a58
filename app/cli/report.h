#pragma once

#include "app/session/session.h"
#include "app/session/summary.h"

#include <ostream>

namespace workbench::cli {

/// One line per pattern: what was found of its places, and what became of it under the decisions.
void printCoverage(std::ostream& out, const Session& session, const Rewritten& rewritten);
/// Module tree with repeated subtrees folded, the found sites beside their modules.
void printTree(std::ostream& out, const Session& session);
/// Every site with its verdict and reason, equal ones of repeated layers in one line.
void printSites(std::ostream& out, const Session& session, const Rewritten& rewritten);
/// Refused sites: the first condition that failed, at which node and source line.
void printNearMisses(std::ostream& out, const Session& session);

} // namespace workbench::cli
