#pragma once

#include "core/support/cancel.h"
#include "core/support/result.h"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Helper processes: no shell, a process group of their own, pipes for stdin and stdout, stderr kept for
/// error messages.

namespace workbench {

struct Command {
    std::vector<std::string> words; ///< the program (searched on PATH when it has no slash) and its arguments
    std::map<std::string, std::string> environment; ///< added to ours; replaces what is there
    std::filesystem::path directory;                ///< empty: ours
};

/// How a process ended.
struct ExitState {
    int status = 0; ///< exit status; meaningless when a signal ended it
    int signal = 0; ///< 0: it exited
    bool success() const { return signal == 0 && status == 0; }
    std::string text() const; ///< "exited with status 3", "was killed by signal 9 (Killed)"
};

/// A running process. Destruction kills its whole group and reaps it. One thread at a time may use it.
class Subprocess {
public:
    /// An error names the program: not found, not executable, no more processes.
    static Result<Subprocess> start(const Command& command);
    Subprocess(Subprocess&& other) noexcept;
    Subprocess& operator=(Subprocess&& other) noexcept;
    ~Subprocess();

    pid_t pid() const { return m_pid; }
    int input() const { return m_input; }   ///< write end of its stdin; -1 once closed
    int output() const { return m_output; } ///< read end of its stdout
    void closeInput();
    /// Writes all of the text to its stdin; false when it has closed it. Never raises SIGPIPE.
    bool write(std::string_view text);

    /// Kills every process of the group; wait() still has to be called (the destructor does).
    void kill();
    /// Waits up to `limit` for the end; nullopt when it still runs then. What is left of its group is killed
    /// at its end.
    std::optional<ExitState> wait(std::chrono::milliseconds limit);

    /// The end of what it wrote to stderr so far, at most 16 KiB. Complete after wait().
    std::string errorTail() const;

private:
    struct ErrorReader;
    Subprocess() = default;
    void reset() noexcept;

    pid_t m_pid = -1;
    int m_input = -1;
    int m_output = -1;
    std::optional<ExitState> m_exit;
    std::shared_ptr<ErrorReader> m_errors;
};

/// The last line that is not blank, trimmed; "" when there is none.
std::string lastLine(std::string_view text);

struct LineOptions {
    /// What the process has as stdin. held: a pipe that stays empty and ends with us, however we end; a
    /// process that watches it (WORKBENCH_LIFELINE holds its number) is asked to stop by its end, and has two
    /// seconds for that.
    enum class Input { closed, held } input = Input::closed;
    std::function<void(std::string_view)> onLine; ///< each line of stdout, without its newline
    const CancelToken* cancel = nullptr;          ///< cancelled: the group is killed
    std::chrono::milliseconds timeLimit{0};       ///< 0: none; past it the group is killed
};

struct Finished {
    enum class How { exited, cancelled, timedOut } how = How::exited;
    ExitState exit;
    std::string errorTail;
};

/// Runs a command to its end. An error: it cannot be started, or it prints a line without
/// an end (16 MiB).
Result<Finished> runLines(const Command& command, const LineOptions& options);

} // namespace workbench
