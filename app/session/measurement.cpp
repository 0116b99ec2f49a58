#include "app/session/measurement.h"

#include "app/session/eager_client.h"
#include "app/session/generate.h"
#include "app/session/json_fields.h"
#include "app/session/tokenizer_client.h"

#include <algorithm>
#include <tuple>

namespace workbench {
namespace {

using nlohmann::json;

/// How many sites of each pattern the decisions apply.
std::map<std::string, std::int64_t> appliedPatterns(const Analysis& analysis, const Rewritten& rewritten) {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < analysis.sites.size(); ++i)
        counts[analysis.sites[i].pattern] += rewritten.outcomes[i].state == SiteOutcome::State::applied;
    std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
    return counts;
}

Result<std::vector<TokenizerClient::Tokens>>
tokenize(const Session& session, const std::vector<std::string>& prompts, const Job& job) {
    std::vector<TokenizerClient::Tokens> all;
    if (prompts.empty())
        return all;
    const TracedModel& model = session.model();
    if (model.directory.empty() || !session.tracer())
        return Error{ErrorCode::badInput,
                     model.archive.string() +
                         " has no tokenizer: prompts need a model directory; use a synthetic load",
                     model.archive.string()};
    auto tokenizer =
        TokenizerClient::start(*session.tracer(), model.directory, session.options().trustRemoteCode);
    if (!tokenizer)
        return tokenizer.error();
    for (const std::string& prompt : prompts) {
        auto tokens = tokenizer->encode(prompt, job);
        if (!tokens)
            return tokens.error();
        if (tokens->empty())
            return Error{
                ErrorCode::badInput, "the prompt '" + prompt + "' has no tokens: give some text", {}};
        all.push_back(std::move(tokens).value());
    }
    return all;
}

/// A prompt longer than the model's context would be computed without meaning, or not at all.
Status checkContext(const ModelFacts& facts, const BenchLoad& load,
                    const std::vector<TokenizerClient::Tokens>& prompts) {
    std::int64_t longest = prompts.empty() && load.trace.empty() ? load.promptTokens : 0;
    for (const auto& prompt : prompts)
        longest = std::max(longest, static_cast<std::int64_t>(prompt.size()));
    std::int64_t fresh = load.trace.empty() ? load.newTokens : 0;
    for (const TraceRequest& request : load.trace)
        if (request.promptTokens + request.newTokens > longest + fresh)
            std::tie(longest, fresh) = std::pair(request.promptTokens, request.newTokens);
    const bool fits = fresh <= facts.contextLength && longest <= facts.contextLength - fresh;
    if (facts.contextLength <= 0 || fits)
        return Ok{};
    return Error{ErrorCode::badInput,
                 "a prompt of " + std::to_string(longest) + " tokens and " + std::to_string(fresh) +
                     " new ones do not fit into the model's context of " +
                     std::to_string(facts.contextLength) + ": take fewer",
                 {}};
}

/// The load's prompts as tokens, none for a synthetic load.
Result<std::vector<TokenizerClient::Tokens>> promptsOf(const Session& session, const BenchLoad& load,
                                                       const Job& job) {
    if (!load.prompts.empty() && load.concurrency > 1)
        return Error{ErrorCode::badInput,
                     "prompts are measured one at a time, a round each: take them with one request at once",
                     {}};
    auto prompts = tokenize(session, load.prompts, job);
    if (!prompts)
        return prompts;
    if (auto fits = checkContext(session.model().facts, load, *prompts); !fits)
        return fits.error();
    return prompts;
}

json weightsOf(const Session& session, const Runtime& runtime) {
    json weights = runtime.weightsOf(session.model());
    if (!runtime.hasWeights(session.model()))
        weights["random"] = {{"seed", 1}};
    return weights;
}

Status loadProgram(const Session& session, Runtime& runtime, const std::string& name,
                   const Decisions& decisions, const std::string& device, const Job& job) {
    const TracedModel& model = session.model();
    auto rewritten = rewrite(model.canonical, model.analysis, decisions);
    if (!rewritten)
        return rewritten.error();
    return runtime.load(name, rewritten->graph, weightsOf(session, runtime), job, device);
}

BenchReport emptyReport(const Session& session, const Runtime& runtime, const MeasureRequest& request) {
    BenchReport report;
    const TracedModel& model = session.model();
    report.model = model.facts.className;
    report.dtype = model.facts.dtype;
    report.randomWeights = !runtime.hasWeights(model);
    report.load = request.load;
    report.load.weights = runtime.weightFormat();
    return report;
}

/// Loads every program that the report is about; their names. Hand-written code that there is none of is a
/// reason in the report.
Result<std::vector<std::string>> loadAll(const Session& session, Runtime& runtime,
                                         const MeasureRequest& request, BenchReport& report, const Job& job) {
    const Decisions& decided = session.decisions();
    std::vector<std::pair<std::string, Decisions>> programs = {{kBefore, {}}, {kAfter, decided}};
    for (const PatternEffect& effect : report.patterns)
        programs.emplace_back(kWithout + effect.pattern,
                              withoutPattern(session.model().analysis, decided, effect.pattern));
    std::vector<std::string> names;
    for (const auto& [name, decisions] : programs) {
        if (auto loaded = loadProgram(session, runtime, name, decisions, request.device, job); !loaded)
            return loaded.error();
        names.push_back(name);
    }
    if (!request.native)
        return names;
    auto native = runtime.loadNative(kNative, session.model(), weightsOf(session, runtime), job);
    if (native) {
        names.insert(names.begin() + 2, kNative);
        report.native.emplace();
    } else if (native.error().code == ErrorCode::requirementFailed) {
        report.nativeReason = native.error().message;
    } else {
        return native.error();
    }
    return names;
}

BenchPace paceOf(const json& event) {
    return {textOf(event, "program"), integerOf(event, "round"), integerOf(event, "tokens"),
            numberOf(event, "seconds")};
}

json benchParams(const BenchLoad& load, const std::vector<std::string>& programs,
                 const std::vector<TokenizerClient::Tokens>& prompts, bool profile) {
    json params = {{"programs", programs},         {"prompt_tokens", load.promptTokens},
                   {"new_tokens", load.newTokens}, {"rounds", load.rounds},
                   {"profile", profile},           {"concurrency", load.concurrency}};
    if (!prompts.empty())
        params["prompts"] = prompts;
    for (const TraceRequest& request : load.trace)
        params["requests"].push_back({{"arrival_s", request.arrivalSeconds},
                                      {"prompt_tokens", request.promptTokens},
                                      {"new_tokens", request.newTokens}});
    return params;
}

/// transformers' rounds, each while the worker pauses. One that fails ends its part, not the measurement.
class EagerRounds {
public:
    EagerRounds(const BenchLoad& load, const std::vector<TokenizerClient::Tokens>& prompts)
        : m_load(load), m_prompts(prompts) {}

    /// Why there is none; empty where there is.
    std::string start(const Session& session, const Runtime& runtime, std::int64_t threads, const Job& job) {
        if (runtime.workerIsElsewhere())
            return "The worker may run on another machine than transformers.";
        auto client = EagerClient::start(session, threads, job);
        if (!client)
            return client.error().message;
        m_client.emplace(std::move(client).value());
        return {};
    }
    bool takesPart() const { return m_client.has_value(); }
    /// Round -1 is not counted.
    void run(std::int64_t round, BenchRecorder& recorder, const Job& job) {
        if (!m_client)
            return;
        const auto turn = static_cast<std::size_t>(std::max<std::int64_t>(round, 0));
        auto done = m_client->round(
            m_load, m_prompts.empty() ? TokenizerClient::Tokens{} : m_prompts[turn % m_prompts.size()], job);
        Status added = done ? Status(Ok{}) : Status(done.error());
        if (done && round >= 0) {
            (*done)["program"] = kEager;
            added = recorder.add(*done);
        }
        if (added)
            return;
        recorder.dropEager(added.error().message);
        m_client.reset();
    }

private:
    const BenchLoad& m_load;
    const std::vector<TokenizerClient::Tokens>& m_prompts;
    std::optional<EagerClient> m_client;
};

/// The report says that transformers takes part, or why not.
void startEager(EagerRounds& eager, const Session& session, const Runtime& runtime, BenchReport& report,
                const Job& job) {
    report.eagerReason = eager.start(session, runtime, integerOf(report.machine, "threads"), job);
    if (eager.takesPart())
        report.eager.emplace();
}

/// The worker's bench; a broken event ends up as the error.
Status run(Runtime& runtime, const json& params, EagerRounds& eager, BenchRecorder& recorder,
           const MeasureObserver& observer, const Job& job) {
    Status events = Ok{};
    const auto onEvent = [&](const json& event) {
        const std::string kind = textOf(event, "event");
        if (kind == "pace" && observer.onPace)
            observer.onPace(paceOf(event));
        if (kind == "pause") {
            eager.run(integerOf(event, "round"), recorder, job);
            if (auto told = runtime.notify("resume", {{"id", event.value("id", json())}}); !told && events)
                events = told;
        }
        if (kind != "sample" || !events)
            return;
        events = recorder.add(event);
        if (events && observer.onSample)
            observer.onSample(recorder.report());
    };
    auto answer = runtime.call("bench", params, job, onEvent);
    if (!answer)
        return answer.error();
    const json notes = answer->result.value("notes", json::object());
    for (const auto& [program, note] : notes.items())
        if (note.is_string())
            runtime.tell("'" + program + "': " + note.get<std::string>());
    if (events)
        recorder.addSummary(answer->result);
    return events;
}

/// The profile keeps what is shown as it is; what it says of nodes goes by the canonical graph's.
void takeNodeTimes(BenchReport& report, const TracedModel& model, const Graph& rewritten) {
    if (!report.profile.is_object())
        return;
    const auto timesOf = [&](const char* program, const Graph& graph) {
        return nodeTimes(report.profile.value(program, json()), graph, model.canonical);
    };
    NodeTimes times{model.fingerprint, fingerprintOf(rewritten), timesOf("before", model.canonical),
                    timesOf("after", rewritten)};
    if (!times.before.empty() || !times.after.empty())
        report.nodeTimes = std::move(times);
    for (json& of : report.profile)
        if (of.is_object())
            of.erase("nodes");
}

} // namespace

Decisions withoutPattern(const Analysis& analysis, const Decisions& decisions, const std::string& pattern) {
    Decisions without = decisions;
    for (const Site& site : analysis.sites)
        if (site.pattern == pattern && without.contains(site.id))
            without[site.id] = Decision::reject;
    return without;
}

Result<BenchReport> measure(Session& session, Runtime& runtime, const MeasureRequest& request,
                            const MeasureObserver& observer, const Job& job) {
    const TracedModel& model = session.model();
    if (auto fine = checkRunnable(model, "be measured"); !fine)
        return fine.error();
    auto rewritten = rewrite(model.canonical, model.analysis, session.decisions());
    if (!rewritten)
        return rewritten.error();
    auto prompts = promptsOf(session, request.load, job);
    if (!prompts)
        return prompts.error();
    BenchReport report = emptyReport(session, runtime, request);
    if (request.leaveOneOut)
        for (const auto& [pattern, sites] : appliedPatterns(model.analysis, *rewritten))
            report.patterns.push_back({pattern, sites, {}});
    auto hello = runtime.hello(job);
    if (!hello)
        return hello.error();
    report.machine = std::move(hello).value();
    auto names = loadAll(session, runtime, request, report, job);
    if (!names)
        return names.error();
    for (const auto& [name, key] : {std::pair{kBefore, "before"}, {kAfter, "after"}})
        if (runtime.products().contains(name))
            report.products[key] = runtime.products()[name];
    EagerRounds eager(request.load, *prompts);
    if (request.eager)
        startEager(eager, session, runtime, report, job);
    json params = benchParams(request.load, *names, *prompts, request.profile);
    params["pauses"] = eager.takesPart();
    BenchRecorder recorder(std::move(report));
    if (auto ran = run(runtime, params, eager, recorder, observer, job); !ran)
        return ran.error();
    BenchReport measured = recorder.report();
    takeNodeTimes(measured, model, rewritten->graph);
    return measured;
}

} // namespace workbench
