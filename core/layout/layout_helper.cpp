#include "core/layout/layout_helper.h"

#include "core/wire/frame.h"

#include <nlohmann/json.hpp>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace workbench {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Error failed(const std::string& what) {
    return {ErrorCode::runtimeFailed, "the layout helper " + what, {}};
}

int millisecondsUntil(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

} // namespace

Status LayoutHelper::start() {
    if (m_process)
        return Ok{};
    auto process = Subprocess::start({{m_program.string()}, {}, {}});
    if (!process)
        return Error{ErrorCode::runtimeFailed,
                     "graphs cannot be laid out: " + process.error().message +
                         "; it belongs beside the workbench program",
                     m_program.string()};
    m_process.emplace(std::move(process).value());
    return Ok{};
}

void LayoutHelper::stop() {
    m_process.reset(); // kills and reaps
}

Error LayoutHelper::died() {
    const std::optional<ExitState> exit = m_process->wait(2s);
    const std::string last = lastLine(m_process->errorTail());
    stop();
    return failed((exit ? exit->text() : std::string("closed its pipe")) + (last.empty() ? "" : ": " + last));
}

Status LayoutHelper::awaitAnswer(Clock::time_point deadline, const CancelToken* cancel) {
    for (;;) {
        if (cancel && cancel->cancelled()) {
            stop();
            return Error{ErrorCode::cancelled, "interrupted", {}};
        }
        std::array<pollfd, 2> entries{pollfd{m_process->output(), POLLIN, 0},
                                      pollfd{cancel ? cancel->fd() : -1, POLLIN, 0}};
        const int ready = ::poll(entries.data(), entries.size(), millisecondsUntil(deadline));
        if (ready > 0 && entries[0].revents != 0)
            return Ok{};
        if (ready == 0 && Clock::now() >= deadline) {
            stop();
            return failed("was stopped at its time limit: open fewer modules at a time");
        }
        if (ready < 0 && errno != EINTR)
            return failed("cannot be waited for");
    }
}

Result<FlatSolution> LayoutHelper::solve(const FlatProblem& problem, Clock::time_point deadline,
                                         const CancelToken* cancel) {
    if (auto started = start(); !started)
        return started.error();
    if (!writeFrame(m_process->input(), {toJson(problem).dump(), {}}))
        return died();
    if (auto waited = awaitAnswer(deadline, cancel); !waited)
        return waited.error();
    return readAnswer(problem);
}

Result<FlatSolution> LayoutHelper::readAnswer(const FlatProblem& problem) {
    const auto frame = readFrame(m_process->output());
    if (!frame)
        return died();
    const json answer = json::parse(frame->json, nullptr, false);
    if (answer.is_object() && answer.contains("error"))
        return failed("failed: " + answer["error"].dump());
    auto solution = solutionFromJson(answer, problem);
    if (!solution) {
        stop();
        return failed("does not keep to the protocol");
    }
    return std::move(*solution);
}

} // namespace workbench
