#pragma once

#include "app/session/weight_format.h"
#include "core/plan/plan.h"
#include "fusion/fusion.h"
#include "fusion/match/explain.h"
#include "fusion/rewrite/gain.h"

#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// How much faster a rewrite makes the model, measured: percent of tokens per second, with its spread.
struct SpeedGain {
    double percent = 0, low = 0, high = 0;
    std::string weights = kStoredWeights; ///< one of kWeightFormats: what it was measured on
};

/// What is known of a site beside the site itself.
struct SiteEvidence {
    SiteOutcome outcome;
    Decision decision = Decision::undecided;
    std::string note;
    std::vector<CheckedCondition> conditions;
    std::optional<SiteGain> estimated;
    std::int64_t tokens = 1; ///< that the estimate is for
    std::optional<SpeedGain> measured;
    std::optional<PlanProof> proof;
};

/// Everything about a site as Markdown, for an issue or a review.
std::string evidenceReport(const Graph& canonical, const Site& site, const SiteEvidence& evidence);

/// "1e-05", "[576, 192, 192]", "silu"
std::string factText(const FactValue& value);
/// "cat(0, model.layers.0.self_attn.q_proj.weight, ...)"
std::string derivedText(const DerivedParameter& derived);
/// "passed: relative error 3.1e-07, tolerance 1e-05 (f32, weights, 24 tokens)"
std::string proofText(const PlanProof& proof);
/// "+2.6 % (+1.9 to +3.2)"
std::string speedText(const SpeedGain& gain);
/// "linear_3 (aten.linear)"; "" for kNone
std::string nodeText(const Graph& graph, NodeId node);

} // namespace workbench
