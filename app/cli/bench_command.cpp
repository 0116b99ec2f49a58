#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/measurement.h"
#include "core/support/read_file.h"

#include <iomanip>
#include <sstream>

namespace workbench::cli {
namespace {

constexpr std::uint64_t kLargestPrompts = 16 << 20;

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string range(const BenchProgram& program, Quantity quantity) {
    const Spread spread = spreadOf(speeds(program, quantity));
    return fixed(spread.median, 1) + " (" + fixed(spread.min, 1) + " to " + fixed(spread.max, 1) + ")";
}

void printQuantity(std::ostream& out, const char* name, const BenchReport& report, Quantity quantity) {
    out << std::left << std::setw(9) << name << "before " << range(report.before, quantity)
        << " tokens/s, after " << range(report.after, quantity)
        << " tokens/s: " << describe(compare(report.before, report.after, quantity)) << '\n';
}

void printLatency(std::ostream& out, const char* name, const Latency& latency) {
    out << std::left << std::setw(9) << name << "first token " << fixed(latency.firstToken, 1)
        << " ms, later ones " << fixed(latency.p50, 1) << " ms (p50), " << fixed(latency.p90, 1) << " (p90), "
        << fixed(latency.p99, 1) << " (p99), " << fixed(latency.max, 1) << " (max)\n";
}

void printPatterns(std::ostream& out, const BenchReport& report) {
    if (!report.patterns.empty())
        out << "with each pattern against without it:\n";
    for (const PatternEffect& effect : report.patterns)
        out << "  " << std::left << std::setw(14) << effect.pattern << std::right << std::setw(4)
            << effect.sites << " sites, prefill " << describe(effectOf(effect, report, Quantity::prefill))
            << "; decode " << describe(effectOf(effect, report, Quantity::decode)) << '\n';
}

void printReport(std::ostream& out, const BenchReport& report) {
    const BenchLoad& load = report.load;
    out << (load.prompts.empty() ? std::to_string(load.promptTokens) + " prompt tokens"
                                 : std::to_string(load.prompts.size()) + " prompts")
        << ", " << load.newTokens << " new tokens, " << load.rounds << " rounds of each in turn, "
        << report.machine.value("threads", 0) << " threads, " << report.machine.value("isa", "")
        << (report.randomWeights ? ", random weights" : "") << "; median (min to max)\n";
    printQuantity(out, "prefill", report, Quantity::prefill);
    printQuantity(out, "decode", report, Quantity::decode);
    printLatency(out, "before", report.before.latency);
    printLatency(out, "after", report.after.latency);
    printPatterns(out, report);
}

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

} // namespace

Status runBench(const Options& options, Context& context) {
    auto prompts = readPrompts(options.prompts);
    if (!prompts)
        return prompts.error();
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker, options.workerModel);
    MeasureRequest request{{options.promptTokens, options.newTokens, options.rounds, *prompts},
                           options.leaveOneOut};
    auto report = measure(**opened, runtime, request, {}, context.job);
    if (!report)
        return report.error();
    if (options.json)
        context.out << toJson(*report).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    else
        printReport(context.out, *report);
    return Ok{};
}

} // namespace workbench::cli
