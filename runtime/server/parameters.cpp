#include "runtime/server/parameters.h"

namespace workbench {
namespace {

constexpr std::size_t kMostStops = 64;
constexpr std::size_t kLongestStop = 1024; // bytes
/// Tokenizers' longest tokens are runs of blanks of about a hundred bytes.
constexpr std::size_t kMostBytesOfToken = 256;

SamplingParams readSampling(BodyReader& body) {
    SamplingParams sampling;
    sampling.temperature = body.number("temperature", 1, 0, 2);
    sampling.topP = body.number("top_p", 1, 0, 1);
    if (sampling.topP == 0) // OpenAI's API takes it; it leaves the most probable token alone
        sampling.topP = 1e-9;
    sampling.minP = body.number("min_p", 0, 0, 1);
    sampling.presencePenalty = body.number("presence_penalty", 0, -2, 2);
    sampling.frequencyPenalty = body.number("frequency_penalty", 0, -2, 2);
    sampling.repetitionPenalty = body.number("repetition_penalty", 1, 0.01, 100);
    if (const auto topK = body.integer("top_k", -1, INT64_MAX); topK && *topK > 0)
        sampling.topK = *topK;
    if (const auto seed = body.integer("seed", INT64_MIN, INT64_MAX))
        sampling.seed = static_cast<std::uint64_t>(*seed);
    return sampling;
}

bool readStreamUsage(BodyReader& body, bool stream) {
    const nlohmann::json* options = body.value("stream_options");
    if (!options)
        return false;
    if (!stream)
        body.fault("stream_options", "'stream_options' needs 'stream' to be true.");
    else if (!options->is_object())
        body.fault("stream_options", "'stream_options' must be an object.");
    else
        for (const auto& [key, value] : options->items())
            if ((key != "include_usage" && key != "include_obfuscation") || !value.is_boolean())
                body.fault("stream_options", "'stream_options' has 'include_usage', true or false, alone.");
    return options->is_object() && options->value("include_usage", nlohmann::json()) == true;
}

} // namespace

Wanted readWanted(BodyReader& body) {
    Wanted wanted;
    wanted.request.sampling = readSampling(body);
    wanted.request.ignoreEos = body.boolean("ignore_eos", false);
    wanted.request.stopIds = body.integers("stop_token_ids", kMostStops, 0, INT32_MAX);
    wanted.stops = body.texts("stop", kMostStops, kLongestStop);
    wanted.choices = body.integer("n", 1, kMostTexts).value_or(1);
    wanted.stream = body.boolean("stream", false);
    wanted.streamUsage = readStreamUsage(body, wanted.stream);
    body.onlyAs("logit_bias", nlohmann::json::object(), "no token can be preferred");
    body.ignore({"user", "metadata", "safety_identifier", "service_tier", "prompt_cache_key",
                 "prompt_cache_retention"});
    body.onlyAs("store", false, "nothing is kept");
    return wanted;
}

std::optional<ApiError> checkModel(BodyReader& body, const ServedModel& model) {
    const auto name = body.text("model");
    if (!name) {
        body.fault("model", "'model' is missing: this server has '" + model.id + "'.");
        return {};
    }
    if (*name == model.id)
        return {};
    return ApiError{404, "The model '" + *name + "' is not served here; there is '" + model.id + "'.",
                    "model", "model_not_found"};
}

std::optional<ApiError> checkTextSize(std::size_t bytes, const ServedModel& model, const char* param) {
    if (bytes / kMostBytesOfToken <= static_cast<std::size_t>(model.longestTokens))
        return {};
    return badParam(param,
                    "The prompt has " + std::to_string(bytes) + " bytes, far more than the " +
                        std::to_string(model.longestTokens) + " tokens that this model's text can have.",
                    "context_length_exceeded");
}

ApiResult<TextRequest> withPrompt(const Wanted& wanted, Tokens prompt, const ServedModel& model,
                                  const char* param) {
    const std::int64_t length = std::ssize(prompt);
    if (length == 0)
        return badParam(param, "The prompt has no tokens: give some text.");
    for (const std::int64_t token : prompt)
        if (token < 0 || token >= model.vocabulary)
            return badParam(param, "Token " + std::to_string(token) +
                                       " is not in the model's vocabulary of " +
                                       std::to_string(model.vocabulary) + ".");
    TextRequest request = wanted.request;
    const std::int64_t room = model.longestTokens - length;
    if (!wanted.hasMaxTokens)
        request.maxTokens = room;
    if (room < 1 || request.maxTokens > room)
        return badParam(param,
                        "This model's text can have " + std::to_string(model.longestTokens) +
                            " tokens, but the prompt has " + std::to_string(length) +
                            (wanted.hasMaxTokens
                                 ? " and " + std::to_string(request.maxTokens) + " new ones are asked for."
                                 : "."),
                        "context_length_exceeded");
    request.prompt = std::move(prompt);
    return request;
}

} // namespace workbench
