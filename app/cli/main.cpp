#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/log.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

namespace {

using namespace workbench;

// Set before any handler is installed; handlers can reach nothing but globals.
CancelToken* g_cancel = nullptr;

/// The first signal asks for an orderly end: helpers are killed, nothing half-written stays. A second one
/// does not wait.
void onSignal(int) {
    if (g_cancel->cancelled())
        ::_exit(130);
    g_cancel->cancel();
}

void handleSignals(CancelToken& cancel) {
    g_cancel = &cancel;
    struct sigaction action {};
    action.sa_handler = onSignal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaction(signal, &action, nullptr);
}

Status run(const cli::Options& options, cli::Context& context) {
    switch (options.verb) {
    case cli::Verb::plan:
        return cli::runPlan(options, context);
    case cli::Verb::inspect:
        return cli::runInspect(options, context);
    case cli::Verb::patterns:
        return cli::runPatterns(options, context);
    case cli::Verb::verify:
        return cli::runVerify(options, context);
    case cli::Verb::generate:
        return cli::runGenerate(options, context);
    case cli::Verb::bench:
        return cli::runBench(options, context);
    case cli::Verb::render:
        return cli::runRender(options, context);
    case cli::Verb::planDiff:
        return cli::runPlanDiff(options, context);
    case cli::Verb::setup:
        return cli::runSetup(options, context);
    }
    __builtin_unreachable();
}

/// Exceptions are no part of our own code: what the libraries throw ends here.
Status runGuarded(const cli::Options& options, cli::Context& context) {
    try {
        return run(options, context);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::runtimeFailed, "there is not enough memory", {}};
    } catch (const std::exception& failure) {
        return Error{ErrorCode::runtimeFailed, std::string("an unexpected failure: ") + failure.what(), {}};
    }
}

int report(const Error& error) {
    cli::logError(error.message);
    return cli::exitCode(error.code);
}

} // namespace

int main(int argc, char** argv) {
    const cli::Parsed parsed = cli::parse(argc, argv);
    cli::startLog(parsed.options.quiet     ? cli::LogLevel::quiet
                  : parsed.options.verbose ? cli::LogLevel::verbose
                                           : cli::LogLevel::normal);
    std::cout << parsed.out << std::flush;
    if (!parsed.err.empty())
        cli::logError(parsed.err);
    if (!parsed.run)
        return parsed.exitCode;

    static CancelToken cancel; // a handler may run until the very end
    handleSignals(cancel);
    cli::Context context{std::cout, {&cancel, cli::logProgress}, Locations::find()};
    if (auto done = runGuarded(parsed.options, context); !done) {
        std::cout << std::flush;
        return report(done.error());
    }
    if (!std::cout.flush())
        return report({ErrorCode::badInput, "the standard output cannot be written: is the disk full?", {}});
    return 0;
}
