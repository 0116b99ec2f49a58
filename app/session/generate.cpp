#include "app/session/generate.h"

#include "app/session/tokenizer_client.h"
#include "app/session/verify_steps.h"
#include "core/support/utf8.h"

#include <algorithm>
#include <limits>

namespace workbench {
namespace {

using nlohmann::json;

/// How many tokens fit behind the prompt: beyond its context a model computes without meaning, or not at all.
Result<std::int64_t> roomFor(const TokenizerClient::Tokens& prompt, std::int64_t contextLength) {
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (contextLength <= 0)
        return std::numeric_limits<std::int64_t>::max() - length;
    if (length < contextLength)
        return contextLength - length;
    return Error{ErrorCode::badInput,
                 "the prompt has " + std::to_string(length) + " tokens, but the model's context is " +
                     std::to_string(contextLength) + ": give a shorter one",
                 {}};
}

Result<TokenizerClient::Tokens> promptTokens(TokenizerClient& tokenizer, const GenerateTextRequest& request,
                                             const Job& job) {
    if (!isUtf8(request.prompt))
        return Error{ErrorCode::badInput, "the prompt is not UTF-8: give text in that encoding", {}};
    auto tokens = request.chat ? tokenizer.chat(request.prompt, job) : tokenizer.encode(request.prompt, job);
    if (tokens && tokens->empty())
        return Error{ErrorCode::badInput, "the prompt has no tokens: give some text", {}};
    return tokens;
}

} // namespace

Status checkRunnable(const TracedModel& model, const char* what) {
    const std::string where = model.directory.empty() ? model.archive.string() : model.directory.string();
    if (!model.runnable)
        return Error{
            ErrorCode::badInput,
            where +
                " is no language model program (token ids, positions and rows in, logits out): it cannot " +
                what,
            where};
    return Ok{};
}

Result<GeneratedText> generateText(Session& session, Runtime& runtime, const GenerateTextRequest& request,
                                   const std::function<void(std::string_view)>& onText, const Job& job) {
    const TracedModel& model = session.model();
    if (auto fine = checkRunnable(model, "generate text"); !fine)
        return fine.error();
    if (model.directory.empty() || !session.tracer())
        return Error{ErrorCode::badInput,
                     model.archive.string() + " has no tokenizer: generate needs a model directory",
                     {}};
    if (!runtime.hasWeights(model))
        return Error{ErrorCode::badInput, model.directory.string() + " has no weights: generate needs them",
                     model.directory.string()};
    auto tokenizer =
        TokenizerClient::start(*session.tracer(), model.directory, session.options().trustRemoteCode);
    if (!tokenizer)
        return tokenizer.error();
    auto prompt = promptTokens(*tokenizer, request, job);
    if (!prompt)
        return prompt.error();
    auto room = roomFor(*prompt, model.facts.contextLength);
    if (!room)
        return room.error();
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    if (auto loaded = runtime.load(kRewritten, (*rewritten)->graph, runtime.weightsOf(model), job); !loaded)
        return loaded.error();

    TextStream stream(*tokenizer);
    Status streamed = Ok{};
    const auto onEvent = [&](const json& event) {
        if (event.value("event", "") != "token" || !streamed)
            return;
        auto text = stream.add(event.value("token", std::int64_t{-1}), job);
        if (text)
            onText(*text);
        else
            streamed = text.error();
    };
    auto answer = runtime.call("generate",
                               {{"program", kRewritten},
                                {"prompt", *prompt},
                                {"max_tokens", std::min(request.maxTokens, *room)},
                                {"eos", model.facts.eosTokens},
                                {"ignore_eos", false}},
                               job, onEvent);
    if (!answer)
        return answer.error();
    if (!streamed)
        return streamed.error();
    onText(stream.finish());
    const json& result = answer->result;
    return GeneratedText{static_cast<std::int64_t>(prompt->size()),
                         static_cast<std::int64_t>(integersOf(result, "tokens").size()),
                         numberOf(result, "prefill_s"), numberOf(result, "decode_s"),
                         result.value("decode_tokens", std::int64_t{0})};
}

} // namespace workbench
