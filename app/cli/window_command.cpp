#include "app/cli/commands.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace workbench::cli {
namespace {

namespace fs = std::filesystem;

bool isSet(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value != '\0';
}

fs::path windowProgram(const Locations& locations) {
    return locations.executables / "workbench-window";
}

bool isBuilt(const Locations& locations) {
    return ::access(windowProgram(locations).c_str(), X_OK) == 0;
}

std::vector<std::string> windowWords(const Options& options, const Locations& locations) {
    std::vector<std::string> words = {windowProgram(locations).string(), "--dtype",
                                      nameOf(options.trace.dtype), "--time-limit",
                                      std::to_string(options.trace.timeLimit.count())};
    if (options.trace.trustRemoteCode)
        words.emplace_back("--trust-remote-code");
    if (!options.plan.empty())
        words.insert(words.end(), {"--plan", fs::absolute(options.plan).string()});
    if (!options.worker.empty())
        words.insert(words.end(), {"--worker", options.worker});
    if (!options.workerModel.empty())
        words.insert(words.end(), {"--worker-model", options.workerModel});
    if (!options.screenshots.empty())
        words.insert(words.end(), {"--screenshots", options.screenshots.string()});
    if (!options.model.empty())
        words.insert(words.end(), {"--", options.model});
    return words;
}

} // namespace

bool hasDisplay() {
    return isSet("WAYLAND_DISPLAY") || isSet("DISPLAY") || isSet("QT_QPA_PLATFORM");
}

bool opensWindow(const Locations& locations) {
    return (isSet("WAYLAND_DISPLAY") || isSet("DISPLAY")) && ::isatty(STDOUT_FILENO) == 1 &&
           isBuilt(locations);
}

/// The window takes this process's place: its signals, exit code and terminal are the window's own.
Status runWindow(const Options& options, Context& context) {
    if (!isBuilt(context.locations))
        return Error{
            ErrorCode::usage,
            "this build has no window (it needs Qt 6 and Graphviz at configure time): use the commands, see "
            "`workbench --help`",
            {}};
    if (options.screenshots.empty() && !hasDisplay())
        return Error{ErrorCode::usage,
                     "there is no display to open a window on: start it in a desktop session, or use "
                     "`workbench inspect` and "
                     "`workbench render`",
                     {}};
    std::vector<std::string> words = windowWords(options, context.locations);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    context.out << std::flush;
    ::execv(arguments.front(), arguments.data());
    return Error{ErrorCode::runtimeFailed, words.front() + " could not be started: " + std::strerror(errno),
                 words.front()};
}

} // namespace workbench::cli
