#include "app/cli/bench_print.h"

#include "app/session/bench_columns.h"
#include "app/session/number_text.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace workbench::cli {
namespace {

using nlohmann::json;

std::string range(const BenchProgram& program, Quantity quantity) {
    const Spread spread = spreadOf(speeds(program, quantity));
    return fixed(spread.median, 1) + " (" + fixed(spread.min, 1) + " to " + fixed(spread.max, 1) + ")";
}

/// Whether there are later tokens whose speed says something: not with one new token, nor in a trace.
bool hasDecode(const BenchReport& report) {
    if (mainQuantity(report.load) == Quantity::prefill || report.load.kind == LoadKind::trace)
        return false;
    const auto speed = speeds(report.after, Quantity::decode);
    return std::any_of(speed.begin(), speed.end(), [](double value) { return value > 0; });
}

void printHeader(std::ostream& out, const BenchReport& report) {
    const BenchLoad& load = report.load;
    out << nameOf(load.kind) << ": ";
    if (!load.trace.empty())
        out << load.trace.size() << " requests of a trace";
    else if (!load.prompts.empty())
        out << load.prompts.size() << " prompts, " << load.newTokens << " new tokens";
    else
        out << load.promptTokens << " prompt tokens, " << load.newTokens << " new tokens";
    if (load.concurrency > 1)
        out << ", " << load.concurrency << " requests at once";
    out << ", " << load.rounds << " rounds of each in turn, " << report.dtype << ", "
        << report.machine.value("threads", 0) << " threads, " << report.machine.value("isa", "")
        << describeWeights(report) << (report.randomWeights ? ", random weights" : "")
        << "; tokens/s, median (min to max)\n";
}

void printQuantity(std::ostream& out, const char* name, const BenchReport& report, Quantity quantity) {
    out << std::left << std::setw(9) << name;
    const char* separator = "";
    for (const BenchColumn& column : columnsOf(report)) {
        const bool storedAlone =
            report.eager && column.program == &*report.eager && report.load.weights != kStoredWeights;
        out << separator << column.name << ' ' << (storedAlone ? "(weights as stored) " : "")
            << range(*column.program, quantity);
        separator = ", ";
    }
    out << "\n         after against before " << describe(compare(report.before, report.after, quantity));
    if (report.native)
        out << "; against native " << describe(compare(*report.native, report.after, quantity));
    if (report.eager)
        out << "; against eager " << describe(compare(*report.eager, report.after, quantity));
    out << '\n';
}

void printLatency(std::ostream& out, const BenchColumn& column) {
    const Latency& latency = column.program->latency;
    out << std::left << std::setw(9) << column.name << "first token " << fixed(latency.firstToken, 1)
        << " ms (p50), " << fixed(latency.firstTokenP90, 1) << " (p90), " << fixed(latency.firstTokenP99, 1)
        << " (p99)";
    if (std::isfinite(latency.p50))
        out << "; between tokens " << fixed(latency.p50, 1) << " (p50), " << fixed(latency.p90, 1)
            << " (p90), " << fixed(latency.p99, 1) << " (p99), " << fixed(latency.max, 1) << " (max)";
    out << '\n';
}

double sumOf(const json& numbers) {
    double sum = 0;
    for (const auto& [name, value] : numbers.items())
        sum += value.is_number() ? value.get<double>() : 0;
    return sum;
}

/// "products 3.10, attention 0.21": milliseconds a step, the longest first.
std::string perStep(const json& seconds, double steps) {
    std::vector<std::pair<double, std::string>> parts;
    for (const auto& [name, value] : seconds.items())
        if (value.is_number())
            parts.emplace_back(1000 * value.get<double>() / steps, name);
    std::sort(parts.rbegin(), parts.rend());
    std::string text;
    for (const auto& [ms, name] : parts)
        text += (text.empty() ? "" : ", ") + name + " " + fixed(ms, 3);
    return text;
}

void printProfile(std::ostream& out, const BenchReport& report) {
    if (!report.profile.is_object())
        return;
    out << "time of a step in ms, measured apart with clocks:\n";
    for (const auto& [name, of] : report.profile.items()) {
        const double steps = of.value("steps", 0.0);
        const double step = of.value("step_s", 0.0);
        if (!(steps > 0) || !(step > 0))
            continue;
        out << "  " << std::left << std::setw(7) << name << "step " << fixed(1000 * step / steps, 3)
            << ", outside of the model " << fixed(1000 * (step - of.value("model_s", 0.0)) / steps, 3);
        const json kernels = of.value("kernels", json::object()); // of a GPU's steps none
        if (!kernels.empty()) {
            const double outside = step - sumOf(kernels);
            out << ", outside of our kernels " << fixed(1000 * outside / steps, 3) << " ("
                << fixed(100 * outside / step, 1) << " %)\n          "
                << perStep(of.value("families", kernels), steps);
        }
        out << '\n';
    }
}

void printMemory(std::ostream& out, const json& memory) {
    if (!memory.is_object())
        return;
    const auto megabytes = [&](const char* key) { return fixed(memory.value(key, 0.0) / 1e6, 0) + " MB"; };
    out << "memory   " << megabytes("peak_bytes") << " at most with all programs side by side, of it weights "
        << megabytes("weight_bytes") << " and room for KV caches of " << megabytes("kv_cache_bytes") << '\n';
}

void printNative(std::ostream& out, const BenchReport& report) {
    if (!report.native && !report.nativeReason.empty())
        out << "native   not available: " << report.nativeReason << '\n';
    if (!report.eager && !report.eagerReason.empty())
        out << "eager    not available: " << report.eagerReason << '\n';
    if (report.nativeCheck.is_object()) {
        std::ostringstream error;
        error << std::setprecision(2) << report.nativeCheck.value("relative_error", 0.0);
        out << "native   logits within " << error.str() << " of the largest of the model's, "
            << report.nativeCheck.value("equal", 0) << " of " << report.nativeCheck.value("tokens", 0)
            << " greedy tokens equal\n";
    }
}

void printPatterns(std::ostream& out, const BenchReport& report) {
    if (!report.patterns.empty())
        out << "with each pattern against without it:\n";
    for (const PatternEffect& effect : report.patterns) {
        out << "  " << std::left << std::setw(14) << effect.pattern << std::right << std::setw(4)
            << effect.sites << " sites, "
            << (report.load.kind == LoadKind::trace
                    ? "output " + describe(effectOf(effect, report, Quantity::output))
                    : "prefill " + describe(effectOf(effect, report, Quantity::prefill)));
        if (hasDecode(report))
            out << "; decode " << describe(effectOf(effect, report, Quantity::decode));
        out << '\n';
    }
}

} // namespace

void printBench(std::ostream& out, const BenchReport& report) {
    printHeader(out, report);
    // The time of a trace is that of its gaps, too: what a phase takes is seen in the latencies.
    if (report.load.kind != LoadKind::trace)
        printQuantity(out, "prefill", report, Quantity::prefill);
    if (hasDecode(report))
        printQuantity(out, "decode", report, Quantity::decode);
    if (mainQuantity(report.load) == Quantity::output)
        printQuantity(out, "output", report, Quantity::output);
    printNative(out, report);
    for (const std::string& left : describeProducts(report))
        out << "weights  " << left << '\n';
    for (const BenchColumn& column : columnsOf(report))
        printLatency(out, column);
    printProfile(out, report);
    printMemory(out, report.memory);
    printPatterns(out, report);
}

} // namespace workbench::cli
