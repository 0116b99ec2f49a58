#pragma once

#include "core/graph/graph.h"
#include "core/graph/replicate.h"
#include "core/support/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The folder that the tracer writes: trace.pt2 (the traced program) and trace.json (what is known of the
/// model beside it).

namespace workbench {

struct TraceFacts {
    std::string className; ///< "LlamaForCausalLM"
    std::string modelType; ///< "llama"
    ScalarType dtype = ScalarType::f32;
    std::string checkpointDtype; ///< torch's name; not every checkpoint's type is a ScalarType
    std::int64_t hiddenSize = 0;
    std::int64_t layers = 0;
    std::int64_t vocabulary = 0;
    std::int64_t maxWindow = 0; ///< 0: no layer has a window
    std::int64_t contextLength = 0;
    std::vector<std::int64_t> eosTokens;
    std::optional<std::int64_t> bosToken;
};

/// How the tracer's plug-ins were compared with transformers, on a small random model of the same kind.
struct TraceProof {
    std::string reference; ///< "transformers eager"
    std::string dtype;
    std::vector<std::int64_t> sequences; ///< lengths of the packed sequences
    double maxAbsError = 0;
    double relativeError = 0;
    double tolerance = 0;
};

struct Trace {
    Graph graph;                   ///< of the whole model: traced layers are replicated
    std::filesystem::path archive; ///< trace.pt2: data of computed buffers and constants
    TraceFacts facts;
    std::map<std::string, std::string> versions; ///< "tracer", "torch", "transformers"
    std::optional<LayerPlan> layers;             ///< absent when every layer was traced
    /// Parameter -> {"shape", "dtype", "from", "op", "dim"}: how it is made of checkpoint tensors.
    /// Validated: `from` holds
    /// {"tensor": name} or nested {"from", "op", "dim"}; op is "copy", "cat", "stack" or "unsupported".
    nlohmann::json parameters;
    std::vector<std::vector<std::string>> tied; ///< groups of parameters that are one
    std::vector<std::string> computed;          ///< buffers and constants whose data is in the archive
    std::map<std::string, std::string> sources; ///< source file, as in source frames -> SHA-256
    std::optional<TraceProof> proof;
    std::vector<std::string> warnings;
    nlohmann::json config; ///< the model's config.json as it matters
};

/// Strict: an unknown key, version or type in trace.json, and a parameter of the graph that trace.json does
/// not explain, are errors.
Result<Trace> readTrace(const std::filesystem::path& folder);

} // namespace workbench
