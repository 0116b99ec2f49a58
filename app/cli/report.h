#pragma once

#include "app/session/session.h"

#include <nlohmann/json_fwd.hpp>

#include <ostream>
#include <string>

namespace workbench::cli {

/// "LlamaForCausalLM (llama, bf16), 30 layers, hidden 576, vocabulary 49152".
std::string modelLine(const ModelFacts& facts);

/// One line per pattern: what was found of its places, and what became of it under the decisions.
void printCoverage(std::ostream& out, const Session& session, const Rewritten& rewritten);
/// Module tree with repeated subtrees folded, the found sites beside their modules.
void printTree(std::ostream& out, const Session& session);
/// Every site with its verdict and reason, equal ones of repeated layers in one line.
void printSites(std::ostream& out, const Session& session, const Rewritten& rewritten);
/// Refused sites: the first condition that failed, at which node and source line.
void printNearMisses(std::ostream& out, const Session& session);

/// The object of `inspect --json`.
nlohmann::ordered_json inspectJson(const Session& session, const Rewritten& rewritten);

/// The module tree as JSON: {"label", "path", "class", "count", "nodes", "parameter_bytes", "children"}.
nlohmann::ordered_json treeJson(const Session& session);

/// What a site is under the decisions: applicable, applied, rejected, refused, present, contained, conflicts.
std::string_view shownVerdict(const Site& site, const SiteOutcome& outcome);

} // namespace workbench::cli
