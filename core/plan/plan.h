#pragma once

#include "core/graph/facts.h"
#include "core/graph/graph.h"
#include "core/support/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The fusion plan: what was decided for one model, why, and how it was proven. JSON Schema:
/// resources/schema/plan.schema.json.

namespace workbench {

inline constexpr int kPlanSchema = 1;

/// How the numbers of a site were compared.
struct PlanProof {
    std::string kind;  ///< "weights" (the model's own), "random-weights" (reduced size)
    std::string dtype; ///< "f32", "bf16"
    double maxAbsError = 0;
    double relativeError = 0; ///< over the largest absolute value of the original's output
    double tolerance = 0;
    std::int64_t tokens = 0;
    bool passed = false;
};

struct PlanSite {
    std::string id;
    std::string pattern;
    std::string module;
    std::string verdict; ///< "applicable", "present", "refused"
    std::string state; ///< "applied", "rejected", "undecided", "contained", "conflicts", "present", "refused"
    std::string decision; ///< "apply", "reject", "undecided"
    std::string with;     ///< the other site of contained / conflicts
    std::string reason;   ///< refused: which condition, at which node and source line
    std::string note;     ///< the user's own words for a rejection
    std::vector<std::string> parameters;
    Facts facts;
    std::optional<PlanProof> proof;
};

/// A weight that the plan makes from others: `sources` concatenated along `dim`.
struct PlanDerived {
    std::string name;
    DerivedParameter from;
    std::string site;
};

struct PlanModel {
    std::string className;
    std::string modelType;
    std::string dtype;
    std::int64_t layers = 0;
};

struct FusionPlan {
    std::string fingerprint; ///< "sha256:..." of the canonical graph without source locations + what matters
                             ///< of the config
    PlanModel model;
    std::vector<PlanSite> sites;
    std::vector<PlanDerived> derived;
    std::map<std::string, std::string>
        versions;        ///< workbench, tracer, torch, transformers; not part of the fingerprint
    std::string weights; ///< identity of the weights that were proven ("sha256:..." of the safetensors
                         ///< headers); may be empty
    std::optional<PlanProof> endToEnd;
};

std::string toJson(const FusionPlan& plan);
/// Strict: an unknown key, version, or a wrong type is an error that names it and its place.
Result<FusionPlan> planFromJson(std::string_view text, std::string_view where);
Result<FusionPlan> readPlan(const std::filesystem::path& file);
/// Atomic: the old file stays whole when anything fails.
Status writePlan(const FusionPlan& plan, const std::filesystem::path& file);

/// SHA-256 over print(canonical, no locations) and the config facts given as canonical JSON text.
std::string fingerprint(const Graph& canonical, std::string_view configJson);

/// Human-readable lines: "qkv@model.layers.3.self_attn: applied -> rejected"; empty when equal in sites and
/// decisions.
std::vector<std::string> diffPlans(const FusionPlan& a, const FusionPlan& b);

} // namespace workbench
