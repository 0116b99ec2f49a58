#include "runtime/server/endpoints.h"

#include <algorithm>

namespace workbench {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostAlternatives = 20;

bool isTokens(const json& value) {
    return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& item) {
               return item.is_number_integer() && item >= 0 && item <= INT32_MAX;
           });
}

/// The prompts of a request, each a text or a list of token ids.
ApiResult<std::vector<json>> promptsOf(const json* prompt) {
    if (!prompt)
        return badParam("prompt", "'prompt' is missing.");
    if (prompt->is_string() || isTokens(*prompt))
        return std::vector<json>{*prompt};
    const bool fine =
        prompt->is_array() && !prompt->empty() &&
        std::ranges::all_of(*prompt, [](const json& item) { return item.is_string() || isTokens(item); });
    if (!fine)
        return badParam("prompt",
                        "'prompt' must be a text, a list of texts, a list of token ids, or a list of such "
                        "lists, none of them empty.");
    if (static_cast<std::int64_t>(prompt->size()) > kMostTexts)
        return badParam("prompt", "One request can have " + std::to_string(kMostTexts) + " texts at most.");
    return prompt->get<std::vector<json>>();
}

ApiResult<Tokens> tokensOf(const json& prompt, TextBackend& backend) {
    if (prompt.is_array())
        return prompt.get<Tokens>();
    const auto& text = prompt.get_ref<const std::string&>();
    if (auto large = checkTextSize(text.size(), backend.model(), "prompt"))
        return *std::move(large);
    auto tokens = backend.encode(text);
    if (!tokens)
        return apiError(tokens.error());
    return std::move(tokens).value();
}

ApiResult<std::string> textOf(const json& prompt, const Tokens& tokens, TextBackend& backend) {
    if (prompt.is_string())
        return prompt.get<std::string>();
    auto text = backend.decode(tokens);
    if (!text)
        return apiError(text.error());
    return std::move(text).value();
}

std::optional<ApiError> addPrompt(const json& prompt, bool echo, TextBackend& backend, TextPlan& plan) {
    auto tokens = tokensOf(prompt, backend);
    if (auto* error = std::get_if<ApiError>(&tokens))
        return *error;
    auto request = withPrompt(plan.wanted, std::get<Tokens>(tokens), backend.model(), "prompt");
    if (auto* error = std::get_if<ApiError>(&request))
        return *error;
    std::string prefix;
    if (echo) {
        auto text = textOf(prompt, std::get<Tokens>(tokens), backend);
        if (auto* error = std::get_if<ApiError>(&text))
            return *error;
        prefix = std::move(std::get<std::string>(text));
    }
    for (std::int64_t i = 0; i < plan.wanted.choices; ++i) {
        plan.requests.push_back(std::get<TextRequest>(request));
        if (echo)
            plan.prefixes.push_back(prefix);
    }
    return {};
}

} // namespace

ApiResult<TextPlan> readCompletion(const std::string& text, TextBackend& backend) {
    auto parsed = BodyReader::parse(text);
    if (auto* error = std::get_if<ApiError>(&parsed))
        return *std::move(error);
    auto& body = std::get<BodyReader>(parsed);
    auto unknownModel = checkModel(body, backend.model());
    TextPlan plan;
    plan.wanted = readWanted(body);
    plan.wanted.request.maxTokens = body.integer("max_tokens", 0, INT64_MAX).value_or(16);
    plan.wanted.hasMaxTokens = true;
    plan.wanted.request.sampling.logprobs = body.integer("logprobs", 0, kMostAlternatives);
    const bool echo = body.boolean("echo", false);
    if (echo && plan.wanted.request.sampling.logprobs)
        body.fault("echo", "'echo' and 'logprobs' do not go together: those of the prompt are not computed.",
                   "unsupported_parameter");
    if (const auto best = body.integer("best_of", 1, kMostTexts); best && *best != plan.wanted.choices)
        body.fault("best_of", "'best_of' is not supported, except with the value of 'n'.",
                   "unsupported_parameter");
    body.onlyAs("suffix", "", "text is only continued");
    const json* prompt = body.value("prompt");
    if (auto fault = body.finish())
        return *std::move(fault);
    if (unknownModel)
        return *std::move(unknownModel);
    auto prompts = promptsOf(prompt);
    if (auto* error = std::get_if<ApiError>(&prompts))
        return *std::move(error);
    const auto& list = std::get<std::vector<json>>(prompts);
    if (std::ssize(list) * plan.wanted.choices > kMostTexts)
        return badParam("n", "One request can have " + std::to_string(kMostTexts) + " texts at most.");
    for (const json& each : list)
        if (auto error = addPrompt(each, echo, backend, plan))
            return *std::move(error);
    return plan;
}

} // namespace workbench
