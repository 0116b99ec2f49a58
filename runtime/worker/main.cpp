/// workbench-worker: runs programs for a session, which talks to it over standard input and output
/// (core/wire/frame.h).

#include "runtime/worker/channel.h"
#include "runtime/worker/request_queue.h"
#include "runtime/worker/workshop.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace workbench;

/// The protocol's two ends get descriptors of their own. What any library prints to standard output then goes
/// to standard error instead of into a frame, and nothing else reads from standard input.
struct Ends {
    int in = -1;
    int out = -1;
};

Ends takeStandardStreams() {
    const Ends ends{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (ends.in < 0 || ends.out < 0 || null < 0 || ::dup2(null, STDIN_FILENO) < 0 ||
        ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        std::perror("workbench-worker: standard input and output cannot be used");
        std::exit(5);
    }
    ::close(null);
    return ends;
}

/// OpenMP's threads spin between parallel regions by default. As soon as another process wants a core, two
/// spinning threads wait for each other for milliseconds per operator: 35 tokens per second became 1 on two
/// busy cores. They must sleep instead, and the OpenMP library reads that from the environment before main()
/// starts. A session on this machine says so; one behind ssh cannot, hence the restart. Who sets the policy
/// himself keeps it.
void restartWithSleepingThreads(char** arguments) {
    if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"))
        return;
    ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
    ::execv("/proc/self/exe", arguments); // comes back only on failure: then it runs, if slower
}

} // namespace

int main(int, char** arguments) {
    restartWithSleepingThreads(arguments);
    const Ends ends = takeStandardStreams();
    Channel channel(ends.out);
    RequestQueue queue(ends.in, channel);
    Workshop workshop;
    while (const auto request = queue.next()) {
        if (request->method() == "shutdown") {
            workshop.finish();
            channel.send({{"id", request->id()}, {"result", Json::object()}});
            break;
        }
        workshop.handle(request);
    }
    workshop.finish();
    // The reading thread still waits for input: leave without running destructors under it.
    std::fflush(nullptr);
    ::_exit(0);
}
