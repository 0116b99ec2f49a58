#pragma once

#include "app/session/bisect.h"
#include "app/session/measurement.h"
#include "app/session/verify.h"

#include <functional>
#include <string>
#include <vector>

namespace workbench {

struct SessionBisectRequest {
    enum class By {
        numbers, ///< wrong: a comparison of verifySession() is out of tolerance
        speed,   ///< wrong: prefill or decode is slower than before beyond the spread
    } by = By::numbers;
    BenchLoad load;     ///< for speed
    std::string device; ///< for speed; empty: the runtime's
    std::function<void(const BisectStep&)> onStep;
};

struct SessionBisect {
    std::vector<std::string> sites; ///< the applied ones; steps and result have indices into it
    BisectResult result;
};

/// Searches the session's applied sites for those that make its numbers or its speed wrong. Each try has some
/// of them alone applied; the session stays as it is.
Result<SessionBisect> bisectSession(const Session& session, Runtime& runtime,
                                    const SessionBisectRequest& request, const Job& job);

/// The applied sites in their order; what a try switches on and off.
Result<std::vector<std::string>> appliedSites(const Session& session);

/// One sentence: what is guilty, or that nothing is wrong.
std::string describe(const SessionBisect& found, SessionBisectRequest::By by);

} // namespace workbench
