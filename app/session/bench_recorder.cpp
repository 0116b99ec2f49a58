#include "app/session/bench_recorder.h"

#include "app/session/json_fields.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace workbench {

using nlohmann::json;

namespace {

/// A round of one program, and its requests' times.
struct Round {
    BenchRound speed;
    std::vector<double> firstTokenMs;
    std::vector<double> tokenMs;
};

/// Nothing for an event that makes no sense: no requests, or times that do not increase.
std::optional<Round> roundOf(const json& event) {
    if (!event.contains("requests") || !event["requests"].is_array() || event["requests"].empty())
        return std::nullopt;
    Round round;
    double prompt = 0;
    double made = 0;
    double later = 0;
    double firstFirst = std::numeric_limits<double>::infinity();
    double lastFirst = 0;
    double end = 0;
    for (const json& request : event["requests"]) {
        const double arrival = numberOf(request, "arrival_s");
        const json tokens = request.is_object() ? request.value("token_s", json()) : json();
        if (!(numberOf(request, "prompt_tokens") > 0) || !(arrival >= 0) || !tokens.is_array() ||
            tokens.empty())
            return std::nullopt;
        double before = arrival;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const double at = tokens[i].is_number() ? tokens[i].get<double>() : 0;
            if (!(at >= before) || !(at > 0))
                return std::nullopt;
            (i == 0 ? round.firstTokenMs : round.tokenMs).push_back(1000 * (at - before));
            before = at;
        }
        prompt += numberOf(request, "prompt_tokens");
        made += static_cast<double>(tokens.size());
        later += static_cast<double>(tokens.size()) - 1;
        firstFirst = std::min(firstFirst, tokens.front().get<double>());
        lastFirst = std::max(lastFirst, tokens.front().get<double>());
        end = std::max(end, before);
    }
    round.speed = {prompt / lastFirst, later > 0 && end > firstFirst ? later / (end - firstFirst) : 0,
                   made / end};
    return round;
}

} // namespace

BenchProgram* BenchRecorder::program(const std::string& name) {
    if (name == kBefore)
        return &m_report.before;
    if (name == kAfter)
        return &m_report.after;
    if (name == kNative && m_report.native)
        return &*m_report.native;
    if (name == kEager && m_report.eager)
        return &*m_report.eager;
    for (PatternEffect& effect : m_report.patterns)
        if (name == kWithout + effect.pattern)
            return &effect.without;
    return nullptr;
}

Status BenchRecorder::add(const json& event) {
    const std::string name = textOf(event, "program");
    BenchProgram* of = program(name);
    auto round = roundOf(event);
    if (!of || !round)
        return Error{
            ErrorCode::runtimeFailed, "the worker's measurement of '" + name + "' makes no sense", {}};
    Times& times = m_times[name];
    times.firstTokenMs.insert(times.firstTokenMs.end(), round->firstTokenMs.begin(),
                              round->firstTokenMs.end());
    times.tokenMs.insert(times.tokenMs.end(), round->tokenMs.begin(), round->tokenMs.end());
    of->rounds.push_back(round->speed);
    of->latency = {spreadOf(times.firstTokenMs).median, percentile(times.tokenMs, 0.5),
                   percentile(times.tokenMs, 0.9),      percentile(times.tokenMs, 0.99),
                   percentile(times.tokenMs, 1),        percentile(times.firstTokenMs, 0.9),
                   percentile(times.firstTokenMs, 0.99)};
    return Ok{};
}

void BenchRecorder::dropEager(const std::string& reason) {
    m_report.eager.reset();
    m_report.eagerReason = reason;
}

/// What the worker says at the end, with the report's names for programs; those of leave-one-out are left
/// out.
void BenchRecorder::addSummary(const json& summary) {
    m_report.memory = summary.value("memory", json());
    m_report.nativeCheck = summary.value("native", json());
    if (const std::string reason = textOf(m_report.nativeCheck, "reason"); !reason.empty()) {
        m_report.native.reset();
        m_report.nativeReason = reason;
        m_report.nativeCheck = json();
    }
    if (!summary.contains("profile"))
        return;
    m_report.profile = json::object();
    for (const auto& [name, key] : {std::pair{kBefore, "before"}, {kAfter, "after"}, {kNative, "native"}})
        if (summary["profile"].contains(name))
            m_report.profile[key] = summary["profile"][name];
}

} // namespace workbench
