#include "runtime/server/answer_shape.h"

namespace workbench {
namespace {

using nlohmann::json;

json orNull(const char* text) {
    return text ? json(text) : json();
}

class ChatShape : public AnswerShape {
public:
    const char* idPrefix() const override { return "chatcmpl-"; }
    const char* object(bool isChunk) const override {
        return isChunk ? "chat.completion.chunk" : "chat.completion";
    }
    json choice(std::size_t index, const std::string& text, json logprobs,
                const char* finish) const override {
        return {{"index", index},
                {"message", {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}}},
                {"logprobs", std::move(logprobs)},
                {"finish_reason", orNull(finish)}};
    }
    json delta(std::size_t index, const std::string& text, json logprobs, const char* finish) const override {
        json delta = json::object();
        if (!text.empty())
            delta["content"] = text;
        return {{"index", index},
                {"delta", std::move(delta)},
                {"logprobs", std::move(logprobs)},
                {"finish_reason", orNull(finish)}};
    }
    json opening(std::size_t index) const override {
        return {{"index", index},
                {"delta", {{"role", "assistant"}, {"content", ""}}},
                {"logprobs", nullptr},
                {"finish_reason", nullptr}};
    }
    json logprobs(const std::vector<NamedToken>& tokens, std::int64_t&) const override {
        return chatLogprobs(tokens);
    }
};

class CompletionShape : public AnswerShape {
public:
    explicit CompletionShape(std::vector<std::string> prefixes) : m_prefixes(std::move(prefixes)) {}

    const char* idPrefix() const override { return "cmpl-"; }
    const char* object(bool) const override { return "text_completion"; }
    json choice(std::size_t index, const std::string& text, json logprobs,
                const char* finish) const override {
        return delta(index, m_prefixes.empty() ? text : m_prefixes.at(index) + text, std::move(logprobs),
                     finish);
    }
    json delta(std::size_t index, const std::string& text, json logprobs, const char* finish) const override {
        return {{"index", index},
                {"text", text},
                {"logprobs", std::move(logprobs)},
                {"finish_reason", orNull(finish)}};
    }
    json opening(std::size_t index) const override {
        return m_prefixes.empty() ? json() : delta(index, m_prefixes.at(index), nullptr, nullptr);
    }
    json logprobs(const std::vector<NamedToken>& tokens, std::int64_t& offset) const override {
        return completionLogprobs(tokens, offset);
    }

private:
    std::vector<std::string> m_prefixes;
};

} // namespace

const AnswerShape& chatShape() {
    static const ChatShape shape;
    return shape;
}

std::unique_ptr<AnswerShape> completionShape(std::vector<std::string> prefixes) {
    return std::make_unique<CompletionShape>(std::move(prefixes));
}

} // namespace workbench
