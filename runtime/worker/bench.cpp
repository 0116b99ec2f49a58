#include "runtime/worker/bench_engines.h"
#include "runtime/worker/bench_load.h"
#include "runtime/worker/devices.h"
#include "runtime/worker/workshop.h"

namespace workbench {
namespace {

/// Tells the session of a measurement while it runs: how far a program is ten times a second ("pace"), and
/// every round ("sample").
class BenchmarkEvents {
public:
    /// `pauses`: after every round, until the session says "resume".
    BenchmarkEvents(const Request& request, std::vector<benchmark::Contender> contenders, std::int64_t rounds,
                    bool pauses)
        : m_request(request), m_contenders(std::move(contenders)), m_rounds(rounds), m_pauses(pauses) {}

    benchmark::Observer observer() {
        return {[this](std::size_t who, std::int64_t round, std::int64_t tokens, double seconds) {
                    m_request.emit("pace", {{"program", m_contenders[who].name},
                                            {"round", round},
                                            {"tokens", tokens},
                                            {"seconds", seconds}});
                },
                [this](std::size_t who, std::int64_t round, const benchmark::RoundSample& sample) {
                    m_request.emit("sample", sampleJson(m_contenders[who].name, round, sample));
                },
                [this](std::int64_t done) { roundDone(done); }};
    }

private:
    void roundDone(std::int64_t done) {
        m_request.progress("rounds", done, m_rounds);
        if (!m_pauses)
            return;
        m_request.emit("pause", {{"round", done - 1}});
        m_request.awaitResume();
    }
    static Json sampleJson(const std::string& program, std::int64_t round,
                           const benchmark::RoundSample& sample) {
        Json requests = Json::array();
        for (const benchmark::RequestTimes& request : sample.requests)
            requests.push_back({{"arrival_s", request.arrival},
                                {"prompt_tokens", request.promptTokens},
                                {"token_s", request.tokens}});
        return {{"program", program},
                {"round", round},
                {"requests", std::move(requests)},
                {"steps", sample.steps},
                {"step_s", sample.stepSeconds},
                {"model_s", sample.modelSeconds}};
    }

    const Request& m_request;
    const std::vector<benchmark::Contender> m_contenders;
    const std::int64_t m_rounds;
    const bool m_pauses;
};

} // namespace

Result<Reply> Workshop::bench(const Request& request) {
    auto names = required<std::vector<std::string>>(request.params(), "programs");
    auto wantsProfile = optional<bool>(request.params(), "profile", false);
    auto pauses = optional<bool>(request.params(), "pauses", false);
    if (const Error* error = firstError(names, wantsProfile, pauses))
        return *error;
    if (names->empty())
        return Error{ErrorCode::badInput, "A benchmark needs at least one program.", {}};
    auto first = modelNamed(names->front());
    if (!first)
        return first.error();
    auto work = benchWork(request.params(), (*first)->vocabulary());
    if (!work)
        return work.error();
    BenchEngines engines(work->loads, names->size());
    for (const std::string& name : *names) {
        if (const auto native = m_native.find(name); native != m_native.end()) {
            engines.add(name, native->second);
            continue;
        }
        auto model = modelNamed(name);
        if (!model)
            return model.error();
        if (auto added = engines.add(name, **model); !added)
            return added.error();
    }
    BenchmarkEvents events(request, engines.contenders(), work->rounds, *pauses);
    auto measured = benchmark::runInterleaved(engines.contenders(), work->loads, work->rounds,
                                              request.cancelled(), events.observer());
    if (!measured)
        return measured.error();
    const Program& program = (*first)->program();
    Reply reply{{{"native", engines.native()},
                 {"memory",
                  {{"peak_bytes", peakBytes(program.placement().device).value_or(0)},
                   {"weight_bytes", program.parameterBytes()},
                   {"kv_cache_bytes", engines.cacheBytes()}}}},
                {}};
    if (Json notes = engines.notes(); !notes.empty())
        reply.result["notes"] = std::move(notes);
    if (*wantsProfile) {
        auto profile = engines.profile(work->loads.front(), request.cancelled());
        if (!profile)
            return profile.error();
        reply.result["profile"] = std::move(*profile);
    }
    return reply;
}

} // namespace workbench
