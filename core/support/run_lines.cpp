#include "core/support/subprocess.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLineBytes = 16 << 20;
constexpr auto kGrace = std::chrono::seconds(2);
constexpr auto kForever = std::chrono::hours(24 * 365); // a later deadline may not fit into the clock

/// Cuts a stream into lines.
class Lines {
public:
    explicit Lines(const std::function<void(std::string_view)>& onLine) : m_onLine(onLine) {}

    /// False when a line grows past every bound.
    bool add(std::string_view text) {
        m_pending += text;
        std::size_t start = 0;
        for (std::size_t end; (end = m_pending.find('\n', start)) != std::string::npos; start = end + 1)
            emit(std::string_view(m_pending).substr(start, end - start));
        m_pending.erase(0, start);
        return m_pending.size() <= kLongestLineBytes;
    }
    void finish() {
        if (!m_pending.empty())
            emit(m_pending);
        m_pending.clear();
    }

private:
    void emit(std::string_view line) {
        if (!line.empty() && line.back() == '\r')
            line.remove_suffix(1);
        if (m_onLine)
            m_onLine(line);
    }

    const std::function<void(std::string_view)>& m_onLine;
    std::string m_pending;
};

/// How often it is looked whether the process ended while a stray child of it keeps its stdout open.
constexpr int kTickMs = 100;

bool passed(std::optional<Clock::time_point> deadline) {
    return deadline && Clock::now() >= *deadline;
}

int waitMs(std::optional<Clock::time_point> deadline) {
    if (!deadline)
        return kTickMs;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, kTickMs));
}

/// Reads stdout to its end, a cancel or the deadline. nullopt: an endless line.
std::optional<Finished::How> readOutput(Subprocess& process, const LineOptions& options,
                                        std::optional<Clock::time_point> deadline) {
    Lines lines(options.onLine);
    std::array<char, 16384> buffer;
    for (;;) {
        std::array<pollfd, 2> entries{pollfd{process.output(), POLLIN, 0},
                                      pollfd{options.cancel ? options.cancel->fd() : -1, POLLIN, 0}};
        const int ready = ::poll(entries.data(), entries.size(), waitMs(deadline));
        if (options.cancel && options.cancel->cancelled())
            return Finished::How::cancelled;
        if (passed(deadline))
            return Finished::How::timedOut;
        if (ready == 0 && process.wait(std::chrono::milliseconds(0)))
            break;
        if (ready <= 0 || entries[0].revents == 0)
            continue;
        const ssize_t count = ::read(process.output(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        if (!lines.add({buffer.data(), static_cast<std::size_t>(count)}))
            return std::nullopt;
    }
    lines.finish();
    return Finished::How::exited;
}

/// A process that closed its stdout may still run: waits for its end, a cancel or the deadline.
std::optional<ExitState> waitFor(Subprocess& process, const LineOptions& options,
                                 std::optional<Clock::time_point> deadline, Finished::How& how) {
    for (;;) {
        if (auto exit = process.wait(std::chrono::milliseconds(50)))
            return exit;
        if (options.cancel && options.cancel->cancelled())
            how = Finished::How::cancelled;
        else if (passed(deadline))
            how = Finished::How::timedOut;
        if (how != Finished::How::exited)
            return std::nullopt;
    }
}

Command watched(Command command) {
    command.environment["WORKBENCH_LIFELINE"] = std::to_string(STDIN_FILENO);
    return command;
}

} // namespace

Result<Finished> runLines(const Command& command, const LineOptions& options) {
    std::optional<Clock::time_point> deadline;
    if (options.timeLimit.count() > 0)
        deadline = Clock::now() + std::min<std::chrono::milliseconds>(options.timeLimit, kForever);
    auto started = Subprocess::start(options.input == LineOptions::Input::held ? watched(command) : command);
    if (!started)
        return started.error();
    Subprocess process = std::move(started).value();
    if (options.input == LineOptions::Input::closed)
        process.closeInput();

    const auto how = readOutput(process, options, deadline);
    Finished finished{how.value_or(Finished::How::exited), {}, {}};
    std::optional<ExitState> exit;
    if (how == Finished::How::exited)
        exit = waitFor(process, options, deadline, finished.how);
    if (!exit && options.input == LineOptions::Input::held) {
        process.closeInput();
        exit = process.wait(kGrace);
    }
    if (!exit) {
        process.kill();
        exit = process.wait(std::chrono::hours(1));
    }
    finished.exit = exit.value_or(ExitState{255, 0});
    finished.errorTail = process.errorTail();
    if (!how)
        return Error{ErrorCode::runtimeFailed,
                     "the program '" + command.words.front() + "' printed a line of more than 16 MiB",
                     {}};
    return finished;
}

} // namespace workbench
