#pragma once

#include "app/session/quality_loss.h"
#include "app/session/runtime.h"
#include "app/session/session.h"
#include "app/session/token_input.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

struct VerifyRequest {
    std::string tokens;               ///< as readTokens() takes it; empty: the text, or defaultTokens()
    std::filesystem::path text;       ///< a file, for the model's tokenizer; empty: none
    std::filesystem::path dumpLogits; ///< empty: no dump
};

struct SiteProof {
    std::string id;
    PlanProof proof;
};

/// Greedy text of both programs from one prompt. Compared up to the first difference, since the text goes on
/// from there on its own.
struct GreedyComparison {
    std::int64_t tokens = 0;      ///< tokens that were compared
    std::int64_t differences = 0; ///< 0 or 1
    std::int64_t excused = 0;     ///< of these: the original's two best logits are closer than the tolerance
};

/// bf16: root mean square error of the logits against the same weights computed in f32, relative to the
/// largest logit.
struct TruthErrors {
    double original = 0;
    double rewritten = 0;
};

/// The rewritten program as the batching engine runs it: in chunks, over a paged KV cache.
struct EngineProof {
    double relativeError =
        0; ///< of the logits; in bf16 with a truth as TruthErrors has it, else the largest difference from
           ///< the original's of whole sequences, relative to the largest logit
    double tolerance = 0;
    bool passed = false;
};

struct VerifyReport {
    std::string kind;                     ///< "weights", "random-weights"
    std::string weights = kStoredWeights; ///< one of kWeightFormats: what both programs were compared with
    std::string dtype;                    ///< "f32", "bf16"
    std::vector<std::int64_t> lengths;
    std::vector<SiteProof> sites;
    std::vector<std::string> unproven; ///< applied sites that the reduced-size model does not have
    PlanProof endToEnd; ///< bf16 with a truth: relative errors are against it, the tolerance is
                        ///< truthRatio() times what the original has
    double largestDifference =
        0; ///< of the logits, rewritten against original, relative to the largest logit
    std::optional<TruthErrors> truth;
    std::optional<EngineProof> engine;
    std::string engineReason; ///< why the engine cannot run it
    GreedyComparison greedy;
    std::optional<QualityLoss> loss;                    ///< of quantised weights, which no tolerance is about
    std::string lossReason;                             ///< why there is none, where weights are quantised
    nlohmann::json products = nlohmann::json::object(); ///< of both programs, see Runtime::products
    bool passed = false;
};

/// Relative error that a site or the logits may have against the original, by element type.
double toleranceOf(std::string_view dtype);
/// How many times the original's error against the truth the rewritten program may have: 1.1, and with fewer
/// than 256 tokens 1.1 + 2 / sqrt(tokens). Single roundings go either way: the ratio of two errors is steady
/// only as an average over many tokens, and spreads with the root of their number.
double truthRatio(std::int64_t tokens);

/// Proves the session's decisions and records the proofs in it. Without weights: on random weights at a
/// reduced size. With a runtime that quantises: on the quantised weights, both programs, which is nothing to
/// record; what these weights are worth is measured apart. An Error means that nothing could be said; a
/// comparison out of tolerance is a report that has not passed.
Result<VerifyReport> verifySession(Session& session, Runtime& runtime, const VerifyRequest& request,
                                   const Job& job);

} // namespace workbench
