#include "core/support/subprocess.h"

#include "core/support/sigpipe_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

extern char** environ;

namespace workbench {
namespace {

constexpr std::size_t kErrorTailBytes = 16 << 10;
constexpr auto kForever = std::chrono::hours(24 * 365);

void closeFd(int& fd) noexcept {
    if (fd >= 0)
        ::close(fd);
    fd = -1;
}

/// Both ends of a pipe; closes what nobody took.
struct Pipe {
    int read = -1;
    int write = -1;
    Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        closeFd(read);
        closeFd(write);
    }
    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
};

int take(int& fd) {
    return std::exchange(fd, -1);
}

Error startFailure(const Command& command, int error) {
    const std::string program = command.words.empty() ? "" : command.words.front();
    return {ErrorCode::runtimeFailed,
            "the program '" + program + "' cannot be started: " + std::strerror(error), program};
}

/// Our environment with the command's additions, as posix_spawn takes it.
class Environment {
public:
    explicit Environment(const std::map<std::string, std::string>& additions) {
        for (char** entry = environ; entry && *entry; ++entry) {
            const std::string_view text = *entry;
            if (!additions.contains(std::string(text.substr(0, text.find('=')))))
                m_texts.emplace_back(text);
        }
        for (const auto& [name, value] : additions)
            m_texts.push_back(name + "=" + value);
        for (std::string& text : m_texts)
            m_pointers.push_back(text.data());
        m_pointers.push_back(nullptr);
    }
    char** data() { return m_pointers.data(); }

private:
    std::vector<std::string> m_texts;
    std::vector<char*> m_pointers;
};

/// posix_spawn's two settings objects, destroyed in any case.
struct SpawnSettings {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SpawnSettings() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
};

/// A group of its own (so that a kill reaches its children), no blocked signals, and the signals that we
/// ignore or handle at their defaults.
void prepare(SpawnSettings& settings) {
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ})
        sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&settings.attributes, &none);
    posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
    posix_spawnattr_setpgroup(&settings.attributes, 0);
    posix_spawnattr_setflags(&settings.attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

ExitState exitState(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED)
        return {info.si_status, 0};
    return {0, info.si_status};
}

std::chrono::steady_clock::time_point deadlineAfter(std::chrono::milliseconds limit) {
    return std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(limit, kForever);
}

} // namespace

std::string ExitState::text() const {
    if (signal == 0)
        return "exited with status " + std::to_string(status);
    const char* name = sigdescr_np(signal);
    return "was killed by signal " + std::to_string(signal) + (name ? " (" + std::string(name) + ")" : "");
}

/// Empties stderr in a thread of its own, so that a chatty process never blocks on it.
struct Subprocess::ErrorReader {
    explicit ErrorReader(int fd) : m_fd(fd) {
        ::fcntl(m_fd, F_SETFL, ::fcntl(m_fd, F_GETFL) | O_NONBLOCK);
        m_thread = std::thread([this] { read(); });
    }
    ~ErrorReader() {
        finish();
        closeFd(m_fd);
    }
    ErrorReader(const ErrorReader&) = delete;
    ErrorReader& operator=(const ErrorReader&) = delete;

    /// Takes what is there and ends, even when a stray process still holds the pipe.
    void finish() {
        m_stop.cancel();
        if (m_thread.joinable())
            m_thread.join();
    }
    std::string tail() const {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }

private:
    void read() {
        std::array<char, 4096> buffer;
        for (;;) {
            const ssize_t count = ::read(m_fd, buffer.data(), buffer.size());
            if (count > 0)
                keep({buffer.data(), static_cast<std::size_t>(count)});
            else if (count == 0 || (errno != EINTR && errno != EAGAIN))
                return;
            else if (errno == EAGAIN) {
                if (m_stop.cancelled())
                    return;
                std::array<pollfd, 2> entries{pollfd{m_fd, POLLIN, 0}, pollfd{m_stop.fd(), POLLIN, 0}};
                ::poll(entries.data(), entries.size(), -1);
            }
        }
    }
    void keep(std::string_view text) {
        const std::lock_guard lock(m_mutex);
        m_text += text;
        if (m_text.size() > kErrorTailBytes)
            m_text.erase(0, m_text.size() - kErrorTailBytes);
    }

    int m_fd;
    CancelToken m_stop;
    mutable std::mutex m_mutex;
    std::string m_text;
    std::thread m_thread;
};

Result<Subprocess> Subprocess::start(const Command& command) {
    if (command.words.empty() || command.words.front().empty())
        return startFailure(command, ENOENT);
    Pipe in, out, err;
    if (!in.open() || !out.open() || !err.open())
        return startFailure(command, errno);

    SpawnSettings settings;
    prepare(settings);
    posix_spawn_file_actions_adddup2(&settings.actions, in.read, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&settings.actions, out.write, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&settings.actions, err.write, STDERR_FILENO);
    if (!command.directory.empty())
        posix_spawn_file_actions_addchdir_np(&settings.actions, command.directory.c_str());

    std::vector<std::string> words = command.words;
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    Environment environment(command.environment);

    Subprocess process;
    const int error = ::posix_spawnp(&process.m_pid, arguments[0], &settings.actions, &settings.attributes,
                                     arguments.data(), environment.data());
    if (error != 0) {
        process.m_pid = -1;
        return startFailure(command, error);
    }
    process.m_input = take(in.write);
    process.m_output = take(out.read);
    closeFd(err.write); // ours: the reader ends when the process has closed its own
    process.m_errors = std::make_shared<ErrorReader>(take(err.read));
    return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept {
    *this = std::move(other);
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
    if (this != &other) {
        reset();
        m_pid = std::exchange(other.m_pid, -1);
        m_input = take(other.m_input);
        m_output = take(other.m_output);
        m_exit = std::exchange(other.m_exit, std::nullopt);
        m_errors = std::move(other.m_errors);
    }
    return *this;
}

Subprocess::~Subprocess() {
    reset();
}

void Subprocess::reset() noexcept {
    closeFd(m_input);
    closeFd(m_output);
    if (m_pid > 0 && !m_exit) {
        kill();
        wait(kForever);
    }
    m_pid = -1;
    m_errors.reset();
}

void Subprocess::closeInput() {
    closeFd(m_input);
}

bool Subprocess::write(std::string_view text) {
    const SigpipeGuard guard;
    while (!text.empty()) {
        const ssize_t count = ::write(m_input, text.data(), text.size());
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0)
            text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

void Subprocess::kill() {
    // Only before it is reaped: afterwards the number may belong to somebody else.
    if (m_pid > 0 && !m_exit)
        ::kill(-m_pid, SIGKILL);
}

std::optional<ExitState> Subprocess::wait(std::chrono::milliseconds limit) {
    if (m_exit || m_pid <= 0)
        return m_exit;
    const auto deadline = deadlineAfter(limit);
    for (auto pause = std::chrono::microseconds(200);;
         pause = std::min(pause * 2, std::chrono::microseconds(10000))) {
        siginfo_t info{};
        // WNOWAIT: the group can still be killed by its number before the leader is reaped.
        const int result = ::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOHANG | WNOWAIT);
        if (result == 0 && info.si_pid == m_pid) {
            ::kill(-m_pid, SIGKILL);
            ::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED);
            m_exit = exitState(info);
            break;
        }
        if (result != 0 && errno != EINTR) {
            m_exit = ExitState{255, 0}; // somebody else reaped it
            break;
        }
        if (std::chrono::steady_clock::now() >= deadline)
            return std::nullopt;
        std::this_thread::sleep_for(pause);
    }
    m_errors->finish();
    return m_exit;
}

std::string Subprocess::errorTail() const {
    return m_errors ? m_errors->tail() : std::string();
}

std::string lastLine(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t end = text.find_last_not_of(blank);
    if (end == std::string_view::npos)
        return {};
    text = text.substr(0, end + 1);
    const std::size_t newline = text.find_last_of("\r\n");
    text = newline == std::string_view::npos ? text : text.substr(newline + 1);
    return std::string(text.substr(std::min(text.size(), text.find_first_not_of(blank))));
}

} // namespace workbench
