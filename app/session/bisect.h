#pragma once

#include "app/session/job.h"

#include <functional>
#include <string>
#include <vector>

/// Which of many changes makes something go wrong, by halves.

namespace workbench {

/// One try: what was switched on, and what came of it.
struct BisectStep {
    std::vector<std::size_t> on; ///< indices, ascending
    bool wrong = false;
    std::string found; ///< a figure: "relative error 3.1e-02, tolerance 1.0e-05"
};

struct BisectTry {
    bool wrong = false;
    std::string found;
};

struct BisectRequest {
    std::size_t count = 0; ///< of the changes
    /// With only these switched on, all others off. An Error ends the search.
    std::function<Result<BisectTry>(const std::vector<std::size_t>& on)> test;
    std::function<void(const BisectStep&)> onStep; ///< after each try
    /// Wrong may be what no half is by itself. `separate`: then the halves are searched with the other one
    /// kept on, until the smallest set is found. `together`: then the set is named as it is (a small effect
    /// that only many changes make is no pair).
    enum class Joint { separate, together } joint = Joint::separate;
    std::size_t most = 8; ///< sets that are named at most
};

struct BisectResult {
    bool wrong = false; ///< with all switched on; false: there is nothing to search
    std::vector<std::vector<std::size_t>>
        guilty;        ///< each one a change alone, or those that only together are
    bool rest = false; ///< without the guilty ones it is still wrong: there are more
    std::vector<BisectStep> steps;
};

/// Delta debugging (Zeller, Yesterday, my program worked, 1999) with interference, again on what is left
/// while that is wrong. 2 log2(count) tries for one guilty change.
Result<BisectResult> bisect(const BisectRequest& request, const Job& job);

} // namespace workbench
