#include "runtime/program/benchmark.h"
#include "runtime/worker/workshop.h"

#include <chrono>
#include <numeric>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

Json toJson(const Spread& spread) {
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

Result<BenchmarkLoad> loadFromJson(const Json& params) {
    auto prompt = optional<std::int64_t>(params, "prompt_tokens", 64);
    auto fresh = optional<std::int64_t>(params, "new_tokens", 32);
    auto rounds = optional<std::int64_t>(params, "rounds", 5);
    auto prompts = optional<std::vector<std::vector<std::int64_t>>>(params, "prompts", {});
    for (const Error* error : {prompt ? nullptr : &prompt.error(), fresh ? nullptr : &fresh.error(),
                               rounds ? nullptr : &rounds.error(), prompts ? nullptr : &prompts.error()})
        if (error)
            return *error;
    bool fine = *prompt >= 1 && *fresh >= 1 && *rounds >= 1;
    for (const auto& tokens : *prompts)
        fine = fine && !tokens.empty();
    if (!fine)
        return Error{ErrorCode::badInput,
                     "A benchmark needs at least one prompt token, one new token and one round.",
                     {}};
    return BenchmarkLoad{*prompt, *fresh, *rounds, std::move(*prompts)};
}

/// Tells the session of a measurement while it runs: how far a program is ten times a second ("pace"), and
/// every time that was taken ("sample").
class BenchmarkEvents {
public:
    BenchmarkEvents(const Request& request, const std::vector<std::string>& names, std::int64_t rounds)
        : m_request(request), m_names(names), m_rounds(rounds) {}

    BenchmarkObserver observer() {
        return {[this](const BenchmarkStep& step, const BenchmarkSample& sample) { pace(step, sample); },
                [this](const BenchmarkStep& step, const BenchmarkSample& sample) {
                    m_request.emit("sample", {{"program", m_names[step.model]},
                                              {"round", step.round},
                                              {"prompt_tokens", sample.promptTokens},
                                              {"prefill_s", sample.prefillSeconds},
                                              {"token_s", sample.tokenSeconds}});
                },
                [this](std::int64_t done) { m_request.progress("rounds", done, m_rounds); }};
    }

private:
    void pace(const BenchmarkStep& step, const BenchmarkSample& sample) {
        const auto now = Clock::now();
        if (now - m_last < std::chrono::milliseconds(100))
            return;
        m_last = now;
        const auto& seconds = sample.tokenSeconds;
        m_request.emit("pace", {{"program", m_names[step.model]},
                                {"round", step.round},
                                {"tokens", seconds.size()},
                                {"seconds", std::accumulate(seconds.begin(), seconds.end(), 0.0)}});
    }

    const Request& m_request;
    const std::vector<std::string>& m_names;
    std::int64_t m_rounds;
    Clock::time_point m_last;
};

} // namespace

Result<Reply> Workshop::bench(const Request& request) {
    auto names = required<std::vector<std::string>>(request.params(), "programs");
    auto load = loadFromJson(request.params());
    if (!names || !load)
        return names ? load.error() : names.error();
    std::vector<LanguageModel*> models;
    for (const std::string& name : *names) {
        auto model = modelNamed(name);
        if (!model)
            return model.error();
        models.push_back(*model);
    }
    BenchmarkEvents events(request, *names, load->rounds);
    auto measured = benchmark(models, *load, request.cancelled(), events.observer());
    if (!measured)
        return measured.error();
    Reply reply{{{"programs", Json::object()}}};
    for (std::size_t i = 0; i < names->size(); ++i)
        reply.result["programs"][(*names)[i]] = {
            {"prefill_tokens_per_s", toJson((*measured)[i].prefillTokensPerSecond)},
            {"decode_tokens_per_s", toJson((*measured)[i].decodeTokensPerSecond)}};
    return reply;
}

} // namespace workbench
