#include "core/layout/layout.h"
#include "core/layout/layout_helper.h"
#include "core/layout/levels.h"
#include "core/layout/solution_cache.h"

#include <mutex>

namespace workbench {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct LayoutEngine::State {
    State(std::filesystem::path program, std::filesystem::path folder)
        : helper(std::move(program)), cache(std::move(folder)) {}
    std::timed_mutex mutex;
    LayoutHelper helper;
    SolutionCache cache;
};

LayoutEngine::LayoutEngine(std::filesystem::path helper, std::filesystem::path cache)
    : m_state(std::make_unique<State>(std::move(helper), std::move(cache))) {}

LayoutEngine::~LayoutEngine() = default;

void LayoutEngine::warmUp() {
    const std::lock_guard lock(m_state->mutex);
    (void)m_state->helper.start();
}

Result<Layout> LayoutEngine::layOut(const LayoutGraph& graph, const LayoutOptions& options,
                                    const CancelToken* cancel) {
    std::unique_lock lock(m_state->mutex, std::defer_lock);
    while (!lock.try_lock_for(10ms))
        if (cancel && cancel->cancelled())
            return Error{ErrorCode::cancelled, "interrupted", {}};
    const Clock::time_point deadline = Clock::now() + options.timeLimit;
    Levels levels(graph, options);
    for (const std::int32_t container : levels.order()) {
        if (cancel && cancel->cancelled())
            return Error{ErrorCode::cancelled, "interrupted", {}};
        const FlatProblem problem = levels.problem(container);
        const std::string key = contentKey(problem);
        auto solution = m_state->cache.find(key, problem);
        if (!solution) {
            auto solved = m_state->helper.solve(problem, deadline, cancel);
            if (!solved)
                return solved.error();
            solution = std::make_shared<const FlatSolution>(std::move(solved).value());
            m_state->cache.add(key, solution);
        }
        levels.setSolution(container, *solution);
    }
    return levels.assemble();
}

} // namespace workbench
