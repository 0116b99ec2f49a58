#include "core/layout/layout.h"
#include "core/layout/layout_helper.h"
#include "core/layout/levels.h"
#include "core/layout/solution_cache.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace workbench {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// Requests that are solved side by side: a long one must not keep those of other tabs waiting.
constexpr int kMostHelpers = 4;

} // namespace

struct LayoutEngine::State {
    State(std::filesystem::path file, std::filesystem::path folder)
        : program(std::move(file)), cache(std::move(folder)) {}

    std::shared_ptr<const FlatSolution> find(const std::string& key, const FlatProblem& problem) {
        const std::lock_guard lock(mutex);
        return cache.find(key, problem);
    }
    void add(const std::string& key, std::shared_ptr<const FlatSolution> solution) {
        const std::lock_guard lock(mutex);
        cache.add(key, std::move(solution));
    }
    class Loan;
    /// Waits while all work; nullptr: cancelled.
    std::unique_ptr<LayoutHelper> borrow(const CancelToken* cancel);
    void giveBack(std::unique_ptr<LayoutHelper> helper);

    const std::filesystem::path program;
    std::mutex mutex; // of what follows
    std::condition_variable freed;
    SolutionCache cache;
    std::unique_ptr<LayoutHelper> idle; ///< one is kept warm, the others end with their request
    int borrowed = 0;
};

/// A helper for one request, from its first problem that nobody has solved yet.
class LayoutEngine::State::Loan {
public:
    explicit Loan(State& from) : m_from(from) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
        if (m_helper)
            m_from.giveBack(std::move(m_helper));
    }

    LayoutHelper* get(const CancelToken* cancel) {
        if (!m_helper)
            m_helper = m_from.borrow(cancel);
        return m_helper.get();
    }

private:
    State& m_from;
    std::unique_ptr<LayoutHelper> m_helper;
};

std::unique_ptr<LayoutHelper> LayoutEngine::State::borrow(const CancelToken* cancel) {
    std::unique_lock lock(mutex);
    while (!freed.wait_for(lock, 10ms, [this] { return borrowed < kMostHelpers; }))
        if (cancel && cancel->cancelled())
            return nullptr;
    ++borrowed;
    return idle ? std::move(idle) : std::make_unique<LayoutHelper>(program);
}

void LayoutEngine::State::giveBack(std::unique_ptr<LayoutHelper> helper) {
    {
        const std::lock_guard lock(mutex);
        --borrowed;
        if (!idle)
            idle = std::move(helper);
    }
    freed.notify_one();
}

LayoutEngine::LayoutEngine(std::filesystem::path helper, std::filesystem::path cache)
    : m_state(std::make_unique<State>(std::move(helper), std::move(cache))) {}

LayoutEngine::~LayoutEngine() = default;

void LayoutEngine::warmUp() {
    State::Loan helper(*m_state);
    (void)helper.get(nullptr)->start();
}

Result<Layout> LayoutEngine::layOut(const LayoutGraph& graph, const LayoutOptions& options,
                                    const CancelToken* cancel) {
    const Error interrupted{ErrorCode::cancelled, "interrupted", {}};
    State::Loan helper(*m_state);
    std::optional<Clock::time_point> deadline; // from when there is a helper: waiting is not its time
    Levels levels(graph, options);
    for (const std::int32_t container : levels.order()) {
        if (cancel && cancel->cancelled())
            return interrupted;
        const FlatProblem problem = levels.problem(container);
        const std::string key = contentKey(problem);
        auto solution = m_state->find(key, problem);
        if (!solution) {
            LayoutHelper* solver = helper.get(cancel);
            if (!solver)
                return interrupted;
            if (!deadline)
                deadline = Clock::now() + options.timeLimit;
            auto solved = solver->solve(problem, *deadline, cancel);
            if (!solved)
                return solved.error();
            solution = std::make_shared<const FlatSolution>(std::move(solved).value());
            m_state->add(key, solution);
        }
        levels.setSolution(container, *solution);
    }
    return levels.assemble();
}

} // namespace workbench
