#include "fake_backend.h"

namespace workbench::testing {
namespace {

using nlohmann::json;

class Chat : public ServerFixture {};

TEST_F(Chat, AnswersThroughTheModelsTemplate) {
    const auto [status, answer] =
        chat(R"({"model": "fake", "temperature": 0, "max_completion_tokens": 5, "messages":
        [{"role": "system", "content": "ab"}, {"role": "user", "content": [{"type": "text", "text": "c"}]}]})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["object"], "chat.completion");
    EXPECT_EQ(answer["choices"][0]["message"]["role"], "assistant");
    EXPECT_EQ(answer["choices"][0]["message"]["content"], FakeBackend::greedy("abc", 5));
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
}

TEST_F(Chat, FillsTheContextWithoutALength) {
    m_options.longestTokens = 20;
    const auto [status, answer] =
        chat(R"({"model": "fake", "temperature": 0, "messages": [{"role": "user", "content": "abc"}]})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["usage"]["completion_tokens"], 17);
}

TEST_F(Chat, EndsAtTheModelsOwnEndTokenUnlessItIsToBeIgnored) {
    const std::string whole = FakeBackend::greedy("abc", 30);
    m_options.endTokens = {whole[6] - 'a'};
    const std::size_t end = whole.find(whole[6]);
    const std::string messages =
        R"("model": "fake", "temperature": 0, "max_tokens": 30, "messages": [{"role": "user", "content": "abc"}])";
    const auto answer = chat("{" + messages + "}").second;
    EXPECT_EQ(answer["choices"][0]["message"]["content"], whole.substr(0, end));
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(answer["usage"]["completion_tokens"], end + 1);
    const auto ignoring = chat("{" + messages + R"(, "ignore_eos": true})").second;
    EXPECT_EQ(ignoring["choices"][0]["message"]["content"], whole);
}

TEST_F(Chat, StreamsARoleThenTextThenTheReason) {
    const auto list = events("/v1/chat/completions", R"({"model": "fake", "temperature": 0, "max_tokens": 5,
        "stream": true, "messages": [{"role": "user", "content": "abc"}]})");
    EXPECT_EQ(list.front()["object"], "chat.completion.chunk");
    EXPECT_EQ(list.front()["choices"][0]["delta"]["role"], "assistant");
    std::string text;
    for (const json& event : list)
        text += event["choices"][0]["delta"].value("content", "");
    EXPECT_EQ(text, FakeBackend::greedy("abc", 5));
    EXPECT_EQ(list.back()["choices"][0]["finish_reason"], "length");
}

TEST_F(Chat, TellsLogProbabilitiesWithBytes) {
    const auto [status, answer] =
        chat(R"({"model": "fake", "temperature": 0, "max_tokens": 2, "logprobs": true,
        "top_logprobs": 3, "messages": [{"role": "user", "content": "abc"}]})");
    ASSERT_EQ(status, 200) << answer;
    const json& first = answer["choices"][0]["logprobs"]["content"][0];
    const std::string text = FakeBackend::greedy("abc", 1);
    EXPECT_EQ(first["token"], text);
    EXPECT_EQ(first["bytes"], json::array({static_cast<int>(text[0])}));
    EXPECT_EQ(first["top_logprobs"].size(), 3U);
    EXPECT_EQ(first["top_logprobs"][0]["token"], text);
}

TEST_F(Chat, RefusesMessagesThatAreNone) {
    const auto status = [&](const std::string& messages) {
        return chat(R"({"model": "fake", "messages": )" + messages + "}").first;
    };
    EXPECT_EQ(status("[]"), 400);
    EXPECT_EQ(status("null"), 400);
    EXPECT_EQ(status("{}"), 400);
    EXPECT_EQ(status(R"(["hi"])"), 400);
    EXPECT_EQ(status(R"([{"role": "king", "content": "a"}])"), 400);
    EXPECT_EQ(status(R"([{"role": "user"}])"), 400);
    EXPECT_EQ(status(R"([{"role": "user", "content": 3}])"), 400);
    EXPECT_EQ(status(R"([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])"), 400);
    EXPECT_EQ(status(R"([{"role": "assistant", "content": "a", "tool_calls": [{}]}])"), 400);
}

TEST_F(Chat, RefusesWhatItDoesNotDo) {
    const auto refused = [&](const std::string& extra) {
        const auto [status, answer] =
            chat(R"({"model": "fake", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}], )" +
                 extra + "}");
        return status == 400 ? answer["error"]["param"].get<std::string>() : std::to_string(status);
    };
    EXPECT_EQ(refused(R"("tools": [{"type": "function"}])"), "tools");
    EXPECT_EQ(refused(R"("response_format": {"type": "json_object"})"), "response_format");
    EXPECT_EQ(refused(R"("top_logprobs": 2)"), "top_logprobs");
    EXPECT_EQ(refused(R"("max_completion_tokens": 2)"), "max_tokens");
    EXPECT_EQ(refused(R"("chat_template_kwargs": {"refuse": true}, "seed": 1.5)"), "seed");
    EXPECT_EQ(refused(R"("response_format": {"type": "text"}, "tools": [], "user": "x", "store": false)"),
              "200");
}

TEST_F(Chat, PassesOnWhatTheTemplateSays) {
    const auto [status, answer] = chat(R"({"model": "fake", "messages": [{"role": "user", "content": "a"}],
        "chat_template_kwargs": {"refuse": true}})");
    EXPECT_EQ(status, 400);
    EXPECT_EQ(answer["error"]["message"], "The template refuses.");
}

} // namespace
} // namespace workbench::testing
