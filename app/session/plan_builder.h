#pragma once

#include "core/plan/plan.h"
#include "fusion/fusion.h"

#include <map>
#include <optional>
#include <string>

namespace workbench {

/// What a plan says beyond analysis and decisions.
struct PlanContext {
    std::string fingerprint;
    PlanModel model;
    std::map<std::string, std::string> versions;
    std::string weights;                                   ///< identity of proven weights; may be empty
    std::map<std::string, PlanProof, std::less<>> proofs;  ///< by site id
    std::map<std::string, std::string, std::less<>> notes; ///< by site id
    std::optional<PlanProof> endToEnd;
};

FusionPlan buildPlan(const Graph& canonical, const Analysis& analysis, const Decisions& decisions,
                     const Rewritten& rewritten, const PlanContext& context);

/// "applied", "contained", ...: the one spelling of a state.
std::string_view stateName(SiteOutcome::State state);
std::string_view verdictName(SiteVerdict verdict);

/// "expected the mean over the last dim, found dim=[1] at mean_3 (modeling_llama.py:67)".
std::string reasonText(const Graph& canonical, const NoMatch& miss);
/// "modeling_llama.py:67" of a node; "" when its source is unknown.
std::string sourceText(const Graph& graph, NodeId node);

} // namespace workbench
