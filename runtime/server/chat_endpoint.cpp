#include "runtime/server/endpoints.h"

#include <set>

namespace workbench {
namespace {

using nlohmann::json;

constexpr std::size_t kMostMessages = 4096;

/// The texts of a content that comes in parts, a line each.
ApiResult<std::string> textOfParts(const json& parts, const std::string& param) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const json& part = parts[i];
        const bool isText = part.is_object() && part.value("type", json()) == "text" &&
                            part.value("text", json()).is_string();
        if (!isText)
            return badParam(param,
                            "The model reads text: each part of a content must be {\"type\": \"text\", "
                            "\"text\": ...}.");
        text += (i == 0 ? "" : "\n") + part["text"].get<std::string>();
    }
    return text;
}

/// As templates expect it: content is a text. What is no part of a plain message is refused.
ApiResult<json> readMessage(const json& message, const std::string& param) {
    static const std::set<std::string> roles{"system", "developer", "user", "assistant", "tool"};
    if (!message.is_object())
        return badParam(param, "Each message must be an object with 'role' and 'content'.");
    const json role = message.value("role", json());
    if (!role.is_string() || !roles.contains(role.get<std::string>()))
        return badParam(param + ".role", "'role' must be system, developer, user, assistant or tool.");
    json result = message;
    const json content = message.value("content", json());
    if (content.is_array()) {
        auto text = textOfParts(content, param + ".content");
        if (auto* error = std::get_if<ApiError>(&text))
            return *std::move(error);
        result["content"] = std::get<std::string>(text);
    } else if (!content.is_string()) {
        return badParam(param + ".content", "'content' must be a text or a list of parts.");
    }
    for (const char* key : {"tool_calls", "function_call", "audio"})
        if (message.contains(key) && !message[key].is_null())
            return badParam(param + "." + key, std::string("'") + key + "' is not supported.",
                            "unsupported_parameter");
    return result;
}

ApiResult<json> readMessages(const json* messages) {
    if (!messages)
        return badParam("messages", "'messages' is missing.");
    if (!messages->is_array() || messages->empty() || messages->size() > kMostMessages)
        return badParam("messages",
                        "'messages' must be a list of 1 to " + std::to_string(kMostMessages) + " messages.");
    json result = json::array();
    for (std::size_t i = 0; i < messages->size(); ++i) {
        auto message = readMessage((*messages)[i], "messages[" + std::to_string(i) + "]");
        if (auto* error = std::get_if<ApiError>(&message))
            return *std::move(error);
        result.push_back(std::move(std::get<json>(message)));
    }
    return result;
}

void readLength(BodyReader& body, Wanted& wanted) {
    const auto old = body.integer("max_tokens", 1, INT64_MAX);
    const auto current = body.integer("max_completion_tokens", 1, INT64_MAX);
    if (old && current && *old != *current)
        body.fault("max_tokens", "'max_tokens' and 'max_completion_tokens' differ: give one of them.");
    wanted.hasMaxTokens = old || current;
    wanted.request.maxTokens = current ? *current : old.value_or(0);
}

void readLogprobs(BodyReader& body, Wanted& wanted) {
    const bool asked = body.boolean("logprobs", false);
    const auto top = body.integer("top_logprobs", 0, 20);
    if (top && !asked)
        body.fault("top_logprobs", "'top_logprobs' needs 'logprobs' to be true.");
    if (asked)
        wanted.request.sampling.logprobs = top.value_or(0);
}

void refuseTools(BodyReader& body) {
    body.onlyAs("tools", json::array(), "the model's text is not read for calls");
    body.onlyAs("functions", json::array(), "the model's text is not read for calls");
    body.onlyAs("tool_choice", "none", "");
    body.onlyAs("function_call", "none", "");
    body.ignore({"parallel_tool_calls"});
    body.onlyAs("response_format", {{"type", "text"}}, "text is not constrained");
    body.onlyAs("modalities", json::array({"text"}), "the model writes text");
    for (const char* key : {"audio", "prediction", "web_search_options", "reasoning_effort", "verbosity"})
        body.onlyAs(key, nullptr, "");
}

std::size_t bytesOf(const json& messages) {
    std::size_t bytes = 0;
    for (const json& message : messages)
        bytes += message["content"].get_ref<const std::string&>().size();
    return bytes;
}

} // namespace

ApiResult<TextPlan> readChat(const std::string& text, TextBackend& backend) {
    auto parsed = BodyReader::parse(text);
    if (auto* error = std::get_if<ApiError>(&parsed))
        return *std::move(error);
    auto& body = std::get<BodyReader>(parsed);
    auto unknownModel = checkModel(body, backend.model());
    TextPlan plan;
    plan.wanted = readWanted(body);
    readLength(body, plan.wanted);
    readLogprobs(body, plan.wanted);
    refuseTools(body);
    const json* variables = body.value("chat_template_kwargs");
    if (variables && !variables->is_object())
        body.fault("chat_template_kwargs", "'chat_template_kwargs' must be an object.");
    const json* given = body.value("messages");
    if (auto fault = body.finish())
        return *std::move(fault);
    if (unknownModel)
        return *std::move(unknownModel);
    auto messages = readMessages(given);
    if (auto* error = std::get_if<ApiError>(&messages))
        return *std::move(error);
    const json& list = std::get<json>(messages);
    if (auto large = checkTextSize(bytesOf(list), backend.model(), "messages"))
        return *std::move(large);
    auto tokens = backend.chat(list, variables ? *variables : json::object());
    if (!tokens)
        return apiError(tokens.error());
    auto request = withPrompt(plan.wanted, std::move(*tokens), backend.model(), "messages");
    if (auto* error = std::get_if<ApiError>(&request))
        return *std::move(error);
    plan.requests.assign(static_cast<std::size_t>(plan.wanted.choices), std::get<TextRequest>(request));
    return plan;
}

} // namespace workbench
