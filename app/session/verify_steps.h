#pragma once

#include "app/session/verify.h"

/// The single comparisons of verify.cpp; the programs kOriginal and kRewritten are loaded.

namespace workbench {

inline constexpr const char* kOriginal = "original";
inline constexpr const char* kRewritten = "rewritten";
inline constexpr const char* kTruth = "truth"; ///< and then the weights as stored, in its place

/// The worker's `sites` argument: for each applied site its replacement nodes and the values that they must
/// reproduce.
nlohmann::json siteChecks(const TracedModel& model, const Rewritten& rewritten);

/// What the f32 program gives, and how far both programs are from it.
struct Truth {
    TruthErrors errors;
    Logits logits;
};
/// Loads the f32 program as kTruth and compares both programs with it.
Result<Truth> compareWithF32(Runtime& runtime, const TracedModel& truth, const TokenInput& input,
                             const Job& job);

/// Compares what the engine makes of kRewritten with the truth, where there is one, or else with kOriginal.
/// requirementFailed: the engine cannot run it.
Result<EngineProof> proveEngine(Runtime& runtime, const TracedModel& model, const VerifyReport& report,
                                const Truth* truth, const TokenInput& input, const Job& job);

/// Loads the model with its weights as stored, as kTruth, so that the one that was there is gone before, and
/// compares kOriginal with it. `isText`: the tokens are a text, whose likelihood means something.
Result<QualityLoss> lossOfQuantising(Runtime& runtime, const TracedModel& model, const TokenInput& input,
                                     bool isText, const Job& job);

/// What follows each of the rows in its sequence; nothing after the last token of one.
std::vector<std::optional<std::int64_t>> nextTokens(const TokenInput& input,
                                                    const std::vector<std::int64_t>& rows);

/// A difference is excused when the original's two best logits are at most `closeness` apart there.
/// `contextLength`: no longer text is made; 0 when it is not known.
Result<GreedyComparison> compareGreedy(Runtime& runtime, const TokenInput& input, std::int64_t contextLength,
                                       double closeness, const Job& job);

} // namespace workbench
