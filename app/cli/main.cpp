#include "app/cli/command_list.h"
#include "app/cli/exit_codes.h"
#include "app/cli/log.h"
#include "app/cli/process.h"

#include <functional>
#include <iostream>
#include <new>
#include <utility>

namespace {

using namespace workbench;

/// Exceptions are no part of our own code: what the libraries throw ends here.
Status guarded(const std::function<Status()>& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::runtimeFailed, "there is not enough memory", {}};
    } catch (const std::exception& failure) {
        return Error{ErrorCode::runtimeFailed, std::string("an unexpected failure: ") + failure.what(), {}};
    }
}

/// The exit code. The output is written in any case: what was found before a failure is worth reading.
int finish(const Status& done) {
    const bool written = static_cast<bool>(std::cout.flush());
    if (cli::readerIsGone())
        cli::endByBrokenPipe();
    const Status outcome =
        done && !written
            ? Error{ErrorCode::badInput,
                    "the standard output cannot be written: is the disk full, or the stream closed?",
                    {}}
            : done;
    if (outcome)
        return 0;
    cli::logError(outcome.error().message);
    return cli::exitCode(outcome.error().code);
}

} // namespace

int main(int argc, char** argv) {
    cli::openStandardStreams();
    Locations locations = Locations::find();
    const cli::Parsed parsed = cli::parse(argc, argv, cli::opensWindow(locations));
    cli::startLog(parsed.options.quiet     ? cli::LogLevel::quiet
                  : parsed.options.verbose ? cli::LogLevel::verbose
                                           : cli::LogLevel::normal);
    static CancelToken cancel; // a handler may run until the very end
    cli::handleSignals(cancel);
    std::cout << parsed.out;
    if (!parsed.err.empty())
        cli::logError(parsed.err);
    if (!parsed.run)
        return parsed.exitCode != 0 ? parsed.exitCode : finish(Ok{});
    return finish(guarded([&] {
        cli::Context context{std::cout, {&cancel, cli::logProgress}, std::move(locations)};
        return parsed.options.command->run(parsed.options, context);
    }));
}
