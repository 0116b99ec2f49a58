#include "app/cli/bench_print.h"
#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/bench_html.h"
#include "app/session/bench_trace.h"
#include "app/session/measurement.h"
#include "core/support/read_file.h"

#include <sstream>

namespace workbench::cli {
namespace {

constexpr std::uint64_t kLargestPrompts = 16 << 20;

/// A prompt a line; blank lines are none.
Result<std::vector<std::string>> readPrompts(const std::filesystem::path& file) {
    std::vector<std::string> prompts;
    if (file.empty())
        return prompts;
    auto text = readFile(file, kLargestPrompts);
    if (!text)
        return text.error();
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos)
            prompts.push_back(line);
    if (prompts.empty())
        return Error{ErrorCode::badInput, "the file " + file.string() + " has no prompt: write one a line",
                     file.string()};
    return prompts;
}

Result<BenchLoad> loadFrom(const Options& options) {
    BenchLoad load = options.load;
    auto prompts = readPrompts(options.prompts);
    if (!prompts)
        return prompts.error();
    load.prompts = std::move(*prompts);
    if (options.traceFile.empty())
        return load;
    auto trace = readBenchTrace(options.traceFile);
    if (!trace)
        return trace.error();
    load.trace = std::move(*trace);
    return load;
}

} // namespace

Status runBench(const Options& options, Context& context) {
    if (auto writable = checkWritableFile(options.report, options.model); !writable)
        return writable;
    auto load = loadFrom(options);
    if (!load)
        return load.error();
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker, options.workerModel, options.weights, options.device);
    runtime.setNotices([](const std::string& notice) { logWarning(notice); });
    MeasureRequest request{std::move(*load), options.leaveOneOut};
    request.native = request.profile = true;
    request.eager = options.eager;
    auto report = measure(**opened, runtime, request, {}, context.job);
    if (!report)
        return report.error();
    if (!options.report.empty())
        if (auto written = writeBenchHtml(*report, options.report); !written)
            return written;
    if (options.json)
        context.out << toJson(*report).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    else
        printBench(context.out, *report);
    return Ok{};
}

} // namespace workbench::cli
