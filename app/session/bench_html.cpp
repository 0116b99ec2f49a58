#include "app/session/bench_html.h"

#include "app/session/bench_columns.h"
#include "app/session/bench_svg.h"
#include "core/support/atomic_file.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

namespace workbench {
namespace {

using nlohmann::json;

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 780px; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; } td, th { padding: 2px 12px 2px 0; text-align: left; } td.n { text-align: right; }
svg { width: 100%; height: auto; } svg text { font-size: 13px; fill: currentColor; }
.spread { stroke: #222; stroke-width: 3; } .axis { stroke: #999; fill: none; } .curve { fill: none; stroke-width: 2.5; }
.c0 { fill: #4477aa; } .c1 { fill: #228833; } .c2 { fill: #ccbb44; } .c3 { fill: #ee6677; } .c4 { fill: #66ccee; }
.c5 { fill: #aa3377; } .c6 { fill: #bbbbbb; } .c7 { fill: #994455; } .c8 { fill: #997700; } .c9 { fill: #6699cc; }
.s0 { stroke: #4477aa; } .s1 { stroke: #228833; } .s2 { stroke: #ccbb44; } .s3 { stroke: #ee6677; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1d1f; } .spread { stroke: #eee; } }
)";

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return std::isfinite(value) ? text.str() : "-";
}

std::string row(const std::vector<std::string>& cells, const char* kind) {
    std::string html = "<tr>";
    for (const std::string& cell : cells)
        html += std::string("<") + kind + ">" + htmlText(cell) + "</" + kind + ">";
    return html + "</tr>\n";
}

std::string describeLoad(const BenchReport& report) {
    const BenchLoad& load = report.load;
    std::string text = std::string(nameOf(load.kind)) + ": ";
    text += !load.trace.empty()     ? std::to_string(load.trace.size()) + " requests of a trace"
            : !load.prompts.empty() ? std::to_string(load.prompts.size()) + " prompts"
                                    : std::to_string(load.promptTokens) + " prompt tokens";
    if (load.trace.empty())
        text += ", " + std::to_string(load.newTokens) + " new tokens, " + std::to_string(load.concurrency) +
                (load.concurrency == 1 ? " request" : " requests at once");
    text += ", " + std::to_string(load.rounds) + " rounds of each program in turn; " + report.dtype;
    text += describeWeights(report);
    text += report.randomWeights ? ", random weights" : "";
    return text + "; " + std::to_string(report.machine.value("threads", 0)) + " threads, " +
           report.machine.value("isa", "");
}

std::string comparisons(const BenchReport& report) {
    const Quantity quantity = mainQuantity(report.load);
    std::string html = "<table>\n" + row({"compared", "how many times as fast (95 % interval)"}, "th");
    if (report.native)
        html +=
            row({"after against native", describe(compare(*report.native, report.after, quantity))}, "td");
    if (report.eager)
        html += row({"after against eager", describe(compare(*report.eager, report.after, quantity))}, "td");
    html += row({"after against before", describe(compare(report.before, report.after, quantity))}, "td");
    for (const PatternEffect& effect : report.patterns)
        html += row({effect.pattern + " (" + std::to_string(effect.sites) + " sites), with against without",
                     describe(effectOf(effect, report, quantity))},
                    "td");
    return html + "</table>\n";
}

std::string latencies(const BenchReport& report) {
    std::string html =
        "<table>\n" + row({"ms", "first token p50", "p90", "p99", "between tokens p50", "p90", "p99"}, "th");
    for (const BenchColumn& column : columnsOf(report)) {
        const Latency& of = column.program->latency;
        html += row({column.name, fixed(of.firstToken, 1), fixed(of.firstTokenP90, 1),
                     fixed(of.firstTokenP99, 1), fixed(of.p50, 1), fixed(of.p90, 1), fixed(of.p99, 1)},
                    "td");
    }
    return html + "</table>\n";
}

/// Milliseconds a step by name of a program's operators, where they are known, and what is outside of the
/// model.
std::map<std::string, double> partsOf(const json& profile) {
    std::map<std::string, double> parts;
    const double steps = std::max(1.0, profile.value("steps", 1.0));
    const json seconds = profile.value("families", profile.value("kernels", json::object()));
    for (const auto& [name, value] : seconds.items())
        if (value.is_number())
            parts[name] = 1000 * value.get<double>() / steps;
    double inside = 0;
    for (const auto& [name, ms] : parts)
        inside += ms;
    const double model = 1000 * profile.value("model_s", 0.0) / steps;
    parts[parts.empty() ? "the model" : "between operators"] = std::max(0.0, model - inside);
    parts["outside of the model"] = 1000 * profile.value("step_s", 0.0) / steps - model;
    return parts;
}

std::string times(const BenchReport& report) {
    std::vector<TimeParts> programs;
    std::vector<std::string> legend;
    if (!report.profile.is_object())
        return {};
    for (const char* name : {"after", "before"})
        if (report.profile.contains(name))
            for (const auto& [part, ms] : partsOf(report.profile[name]))
                if (std::find(legend.begin(), legend.end(), part) == legend.end())
                    legend.push_back(part);
    for (const char* name : {"after", "before"})
        if (report.profile.contains(name)) {
            const auto parts = partsOf(report.profile[name]);
            TimeParts of{name, {}};
            for (const std::string& part : legend)
                of.milliseconds.push_back(parts.contains(part) ? parts.at(part) : 0);
            programs.push_back(std::move(of));
        }
    return "<h2>Time of a step by kind of operator</h2>\n" + timePartsSvg(programs, legend);
}

} // namespace

std::string benchHtml(const BenchReport& report) {
    const Quantity quantity = mainQuantity(report.load);
    std::vector<SpeedBar> bars;
    std::vector<RoundCurve> curves;
    for (const BenchColumn& column : columnsOf(report)) {
        const auto values = speeds(*column.program, quantity);
        bars.push_back({column.name, spreadOf(values)});
        curves.push_back({column.name, values});
    }
    std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                       htmlText(report.model) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" +
                       htmlText(report.model) + "</h1>\n<p>" + htmlText(describeLoad(report)) +
                       "</p>\n<h2>Tokens per second: median, and from least to most</h2>\n" +
                       speedBarsSvg(bars);
    if (!report.native && !report.nativeReason.empty())
        html += "<p>native: not available. " + htmlText(report.nativeReason) + "</p>\n";
    if (!report.eager && !report.eagerReason.empty())
        html += "<p>eager: not available. " + htmlText(report.eagerReason) + "</p>\n";
    for (const std::string& left : describeProducts(report))
        html += "<p>" + htmlText(left) + "</p>\n";
    return html + comparisons(report) + "<h2>By round</h2>\n" + roundCurvesSvg(curves) +
           "<h2>Latency</h2>\n" + latencies(report) + times(report) + "</body></html>\n";
}

Status writeBenchHtml(const BenchReport& report, const std::filesystem::path& file) {
    return writeFileAtomically(file, benchHtml(report));
}

} // namespace workbench
