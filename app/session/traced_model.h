#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "fusion/site.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace workbench {

/// What is known of a model beside its graph.
struct ModelFacts {
    std::string className;
    std::string modelType;
    std::string dtype;           ///< of the traced program: "f32", "bf16"
    std::string checkpointDtype; ///< torch's name, as the tracer says it
    std::int64_t layers = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t vocabulary = 0;
    std::int64_t maxWindow = 0; ///< 0: no layer has a window
    std::int64_t contextLength = 0;
    std::vector<std::int64_t> eosTokens;
    std::map<std::string, std::string> versions;
    std::vector<std::string> warnings;
};

/// A program that was read: canonical graph, analysis, and where its weights are. Immutable once made.
struct TracedModel {
    std::filesystem::path directory; ///< the model directory; empty for a bare archive
    std::filesystem::path archive;   ///< trace.pt2, or the user's own archive
    ModelFacts facts;
    nlohmann::json
        parameters; ///< the tracer's map from parameter to checkpoint tensors; empty: all are in the archive
    std::vector<std::vector<std::string>> tied; ///< groups of parameters that are one tensor
    nlohmann::json sources;                     ///< source file -> SHA-256
    bool hasWeights = false; ///< the parameters have data, in the directory or in the archive
    bool runnable = false; ///< its inputs are token ids, positions and rows, so that the worker can drive it

    Graph canonical;
    Analysis analysis;
    std::string fingerprint;
};

/// Reads a folder that the tracer wrote for the model in `directory`. A replica has all of its weights in the
/// archive.
Result<TracedModel> readTracedModel(const std::filesystem::path& trace,
                                    const std::filesystem::path& directory, bool replica);
/// Reads a .pt2 archive of somebody else or of our own.
Result<TracedModel> readArchiveModel(const std::filesystem::path& archive);

/// "sha256:..." over names, types, shapes and numbers of every tensor of the checkpoint in a directory,
/// however it is divided into files; "" when there is none or it cannot be read. Of the larger tensors of a
/// checkpoint over 1 GiB one KiB of every 64 is read: an edit of a few rows may go unnoticed there.
std::string weightsIdentity(const std::filesystem::path& directory);

} // namespace workbench
