#pragma once

#include "app/session/bench_recorder.h"
#include "app/session/runtime.h"
#include "app/session/session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace workbench {

struct MeasureRequest {
    BenchLoad load;
    bool leaveOneOut = false; ///< also the decided plan without each of its patterns
    std::string device;       ///< one that the worker has; empty: the runtime's
    bool native = false;      ///< also hand-written code, where there is some for the model
    bool eager = false;       ///< also the model as transformers runs it, on this machine
    bool profile = false;     ///< once more at the end, with clocks at kernels and operators
};

/// Where a program is in its round.
struct BenchPace {
    std::string program;
    std::int64_t round = 0;  ///< -1: the round that is not counted
    std::int64_t tokens = 0; ///< new ones so far
    double seconds = 0;      ///< of these
};

/// Told on the thread that measures.
struct MeasureObserver {
    std::function<void(const BenchPace&)> onPace;     ///< ten times a second
    std::function<void(const BenchReport&)> onSample; ///< whenever a program has done a round: all so far
};

/// Speed of the model as it is and as decided, and of the decided one without each pattern, measured in turn
/// (ABAB). Without weights: on random ones of the full size. A worker that dies is an Error; what onSample
/// was told stays true.
Result<BenchReport> measure(Session& session, Runtime& runtime, const MeasureRequest& request,
                            const MeasureObserver& observer, const Job& job);

/// The decisions with every applied site of a pattern rejected.
Decisions withoutPattern(const Analysis& analysis, const Decisions& decisions, const std::string& pattern);

} // namespace workbench
