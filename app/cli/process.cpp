#include "app/cli/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace workbench::cli {
namespace {

// Set before any handler is installed; handlers can reach nothing but globals.
CancelToken* g_cancel = nullptr;
volatile std::sig_atomic_t g_readerGone = 0;

constexpr int kInterrupted = 130;

void onSignal(int signal) {
    const int keep = errno; // of whatever was interrupted
    if (signal == SIGPIPE)
        g_readerGone = 1;
    else if (g_cancel->cancelled())
        ::_exit(kInterrupted);
    g_cancel->cancel();
    errno = keep;
}

bool isIgnored(int signal) {
    struct sigaction current {};
    return sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

} // namespace

void openStandardStreams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (::open("/dev/null", O_RDONLY) < 0) // the lowest free number is this one
                ::_exit(kInterrupted);
}

void handleSignals(CancelToken& cancel) {
    g_cancel = &cancel;
    struct sigaction action {};
    action.sa_handler = onSignal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        if (signal != SIGHUP || !isIgnored(signal)) // nohup
            sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, nullptr);
}

bool readerIsGone() {
    return g_readerGone != 0;
}

void endByBrokenPipe() {
    std::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
    ::_exit(kInterrupted);
}

} // namespace workbench::cli
