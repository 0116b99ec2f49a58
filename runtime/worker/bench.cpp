#include "runtime/program/benchmark.h"
#include "runtime/worker/workshop.h"

namespace workbench {
namespace {

Json toJson(const Spread& spread) {
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

Result<BenchmarkLoad> loadFromJson(const Json& params) {
    auto prompt = optional<std::int64_t>(params, "prompt_tokens", 64);
    auto fresh = optional<std::int64_t>(params, "new_tokens", 32);
    auto rounds = optional<std::int64_t>(params, "rounds", 5);
    for (const Error* error : {prompt ? nullptr : &prompt.error(), fresh ? nullptr : &fresh.error(),
                               rounds ? nullptr : &rounds.error()})
        if (error)
            return *error;
    if (*prompt < 1 || *fresh < 1 || *rounds < 1)
        return Error{ErrorCode::badInput,
                     "A benchmark needs at least one prompt token, one new token and one round.",
                     {}};
    return BenchmarkLoad{*prompt, *fresh, *rounds};
}

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
    auto measured = benchmark(models, *load, request.cancelled(),
                              [&](std::int64_t done) { request.progress("rounds", done, load->rounds); });
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
