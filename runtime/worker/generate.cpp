#include "runtime/program/generation.h"
#include "runtime/program/torch_edge.h"
#include "runtime/worker/workshop.h"

#include <algorithm>

namespace workbench {
namespace {

using Integers = std::vector<std::int64_t>;

/// Parameters that have their own ranges: what is out of them is the engine's to say.
Result<SamplingParams> samplingFromJson(const Json& params) {
    SamplingParams sampling;
    for (const auto& [key, value] : {std::pair<const char*, double*>{"temperature", &sampling.temperature},
                                     {"top_p", &sampling.topP},
                                     {"min_p", &sampling.minP},
                                     {"repetition_penalty", &sampling.repetitionPenalty},
                                     {"presence_penalty", &sampling.presencePenalty},
                                     {"frequency_penalty", &sampling.frequencyPenalty}}) {
        auto number = optional<double>(params, key, *value);
        if (!number)
            return number.error();
        *value = *number;
    }
    auto topK = optional<std::int64_t>(params, "top_k", 0);
    auto seed = optional<std::int64_t>(params, "seed", 0);
    if (!topK || !seed)
        return topK ? seed.error() : topK.error();
    sampling.topK = *topK;
    if (const auto place = params.find("seed"); place != params.end() && !place->is_null())
        sampling.seed = static_cast<std::uint64_t>(*seed);
    auto logprobs = optional<std::int64_t>(params, "logprobs", -1);
    if (!logprobs)
        return logprobs.error();
    if (*logprobs >= 0)
        sampling.logprobs = *logprobs;
    return sampling;
}

Result<GenerationRequest> requestFromJson(const Json& params) {
    auto prompt = required<Integers>(params, "prompt");
    auto maxTokens = required<std::int64_t>(params, "max_tokens");
    auto eos = optional<Integers>(params, "eos", {});
    auto ignoreEos = optional<bool>(params, "ignore_eos", false);
    auto stopIds = optional<Integers>(params, "stop_ids", {});
    auto sampling = samplingFromJson(params);
    if (const Error* error = firstError(prompt, maxTokens, eos, ignoreEos, stopIds, sampling))
        return *error;
    GenerationRequest request;
    request.prompt = std::move(*prompt);
    request.sampling = *sampling;
    request.stop = {*maxTokens, std::move(*eos), *ignoreEos, std::move(*stopIds), {}};
    return request;
}

const char* nameOf(FinishReason reason) {
    return reason == FinishReason::length ? "length" : "stop";
}

/// {"token"}, with {"logprob", "top": [[token, logprob], ...]} where they are asked for.
Json tokenEvent(const Sampled& sampled, bool logprobs) {
    Json event{{"token", sampled.token}};
    if (!logprobs)
        return event;
    event["logprob"] = sampled.logprob;
    event["top"] = Json::array();
    for (const TokenLogprob& other : sampled.top)
        event["top"].push_back({other.token, other.logprob});
    return event;
}

/// A text as it grows in the engine, and its answer.
struct GrowingText {
    std::shared_ptr<Request> request;
    bool logprobs = false;
    Integers tokens;
    std::vector<double> gaps;

    void add(const GeneratedToken& token) {
        tokens.push_back(token.sampled.token);
        gaps.push_back(token.sampled.gap);
        request->emit("token", tokenEvent(token.sampled, logprobs));
    }
    void finish(const Completion& end) {
        request->onCancel({}); // the engine may be gone before the last who could cancel
        if (end.reason == FinishReason::cancelled)
            return request->answer(Error{ErrorCode::cancelled, "The run was cancelled.", {}});
        if (end.error)
            return request->answer(*end.error);
        request->answer(Reply{{{"tokens", tokens},
                               {"finish", nameOf(end.reason)},
                               {"prefill_s", end.prefillSeconds},
                               {"decode_s", end.decodeSeconds},
                               {"queue_s", end.queueSeconds},
                               {"prefill_tokens", end.promptTokens - end.reusedTokens},
                               {"reused_tokens", end.reusedTokens},
                               {"decode_tokens", tokens.empty() ? 0 : tokens.size() - 1},
                               {"top2_gap", gaps},
                               {"kv_cache", true}},
                              {}});
    }
};

/// For a model that cannot decode with a KV cache: the whole text in every step, one request at a time.
Result<Reply> generateWithoutCache(LanguageModel& model, const GenerationRequest& wanted,
                                   const Request& request) {
    if (wanted.sampling.temperature > 0 || wanted.sampling.logprobs || !wanted.stop.stopIds.empty())
        return Error{ErrorCode::badInput,
                     "The model cannot decode with a KV cache; without one, text is greedy, and has neither "
                     "log-probabilities nor stop ids.",
                     {}};
    GenerateRequest plain{wanted.prompt,         wanted.stop.maxTokens, wanted.stop.eos,
                          wanted.stop.ignoreEos, &request.cancelled(),  {}};
    plain.onToken = [&](std::int64_t token) -> Status {
        request.emit("token", {{"token", token}});
        return Ok{};
    };
    auto text = generate(model, plain);
    if (!text)
        return text.error();
    const bool whole = std::ssize(text->tokens) >= wanted.stop.maxTokens;
    return Reply{{{"tokens", text->tokens},
                  {"finish", nameOf(whole ? FinishReason::length : FinishReason::stop)},
                  {"prefill_s", text->prefillSeconds},
                  {"decode_s", text->decodeSeconds},
                  {"queue_s", 0},
                  {"prefill_tokens", wanted.prompt.size()},
                  {"reused_tokens", 0},
                  {"decode_tokens", text->tokens.empty() ? 0 : text->tokens.size() - 1},
                  {"top2_gap", text->gaps},
                  {"kv_cache", text->usedCache}},
                 {}};
}

} // namespace

/// Hands the text to its engine, which answers when it is done. An Error has not been answered.
Status Workshop::startText(const std::shared_ptr<Request>& request) {
    auto name = required<std::string>(request->params(), "program");
    if (!name)
        return name.error();
    auto model = modelNamed(*name);
    if (!model)
        return model.error();
    auto wanted = requestFromJson(request->params());
    if (!wanted)
        return wanted.error();
    // Two engines would share the machine's threads and, if they did, slow each other down.
    for (auto& [other, loaded] : m_loaded)
        if (other != *name && loaded.engine)
            loaded.engine->waitIdle();
    auto engine = engineFor(*name);
    if (!engine)
        return engine.error();
    if (!*engine) {
        request->answer(generateWithoutCache(**model, *wanted, *request));
        return Ok{};
    }
    auto text =
        std::make_shared<GrowingText>(GrowingText{request, wanted->sampling.logprobs.has_value(), {}, {}});
    wanted->onToken = [text](const GeneratedToken& token) { text->add(token); };
    wanted->onFinish = [text](const Completion& end) { text->finish(end); };
    // A cancel that comes before the engine has given a number is found below.
    const auto id = std::make_shared<std::atomic<RequestId>>(0);
    request->onCancel([engine = *engine, id] {
        if (const RequestId known = *id)
            engine->cancel(known);
    });
    auto submitted = (*engine)->submit(std::move(*wanted));
    if (!submitted) {
        request->onCancel({});
        return submitted.error();
    }
    *id = *submitted;
    if (request->cancelled())
        (*engine)->cancel(*submitted);
    return Ok{};
}

void Workshop::generateText(const std::shared_ptr<Request>& request) {
    if (request->cancelled())
        return request->answer(Error{ErrorCode::cancelled, "The request was cancelled.", {}});
    auto started = guarded("The request 'generate'", [&] { return startText(request); });
    if (!started)
        request->answer(started.error());
}

} // namespace workbench
