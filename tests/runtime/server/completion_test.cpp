#include "fake_backend.h"

namespace workbench::testing {
namespace {

using nlohmann::json;

class Completions : public ServerFixture {};

TEST_F(Completions, ContinuesGreedilyToItsLength) {
    const auto [status, answer] =
        complete(R"({"model": "fake", "prompt": "abc", "max_tokens": 12, "temperature": 0})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["object"], "text_completion");
    EXPECT_EQ(answer["choices"][0]["text"], FakeBackend::greedy("abc", 12));
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
    EXPECT_EQ(answer["usage"]["prompt_tokens"], 3);
    EXPECT_EQ(answer["usage"]["completion_tokens"], 12);
    EXPECT_EQ(answer["usage"]["total_tokens"], 15);
}

TEST_F(Completions, TakesTokenIdsAndSeveralPrompts) {
    const auto [status, answer] =
        complete(R"({"model": "fake", "prompt": [[0, 1, 2], [3]], "max_tokens": 4, "temperature": 0})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["choices"][0]["text"], FakeBackend::greedy("abc", 4));
    EXPECT_EQ(answer["choices"][1]["text"], FakeBackend::greedy("d", 4));
    EXPECT_EQ(answer["choices"][1]["index"], 1);
    EXPECT_EQ(answer["usage"]["prompt_tokens"], 4);
}

TEST_F(Completions, CountsAPromptOnceForSeveralChoices) {
    const auto [status, answer] = complete(R"({"model": "fake", "prompt": "abc", "max_tokens": 4, "n": 3})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["choices"].size(), 3U);
    EXPECT_EQ(answer["usage"]["prompt_tokens"], 3);
    EXPECT_EQ(answer["usage"]["completion_tokens"], 12);
}

TEST_F(Completions, EndsBeforeAStopString) {
    const std::string whole = FakeBackend::greedy("abc", 40);
    const std::string stop = whole.substr(5, 3);
    const auto [status, answer] = complete(json{
        {"model", "fake"}, {"prompt", "abc"}, {"max_tokens", 40}, {"temperature", 0}, {"stop", {stop, "zz"}}}
                                               .dump());
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["choices"][0]["text"], whole.substr(0, whole.find(stop)));
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(answer["usage"]["completion_tokens"], whole.find(stop) + 3);
    EXPECT_TRUE(backend().allBlocksFree());
}

TEST_F(Completions, EndsAtAStopIdWhoseTextIsNotShown) {
    const std::string whole = FakeBackend::greedy("abc", 40);
    const auto [status, answer] = complete(json{
        {"model", "fake"},
        {"prompt", "abc"},
        {"max_tokens", 40},
        {"temperature", 0},
        {"logprobs", 1},
        {"stop_token_ids",
         json::array({whole[4] - 'a'})}}.dump());
    ASSERT_EQ(status, 200) << answer;
    const std::size_t end = whole.find(whole[4]);
    EXPECT_EQ(answer["choices"][0]["text"], whole.substr(0, end));
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(answer["choices"][0]["logprobs"]["tokens"].size(), end);
}

TEST_F(Completions, RepeatsThePromptWhenAskedTo) {
    const auto [status, answer] =
        complete(R"({"model": "fake", "prompt": [0, 1], "max_tokens": 2, "temperature": 0, "echo": true})");
    ASSERT_EQ(status, 200) << answer;
    EXPECT_EQ(answer["choices"][0]["text"], "ab" + FakeBackend::greedy("ab", 2));
    const auto none = complete(R"({"model": "fake", "prompt": "ab", "max_tokens": 0, "echo": true})");
    EXPECT_EQ(none.second["choices"][0]["text"], "ab") << none.second;
}

TEST_F(Completions, TellsLogProbabilitiesByTextAndPlace) {
    const auto [status, answer] =
        complete(R"({"model": "fake", "prompt": "abc", "max_tokens": 3, "temperature": 0, "logprobs": 2})");
    ASSERT_EQ(status, 200) << answer;
    const json& logprobs = answer["choices"][0]["logprobs"];
    const std::string text = FakeBackend::greedy("abc", 3);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(logprobs["tokens"][i], text.substr(i, 1));
        EXPECT_EQ(logprobs["text_offset"][i], i);
        EXPECT_EQ(logprobs["top_logprobs"][i].size(), 2U);
        // Greedy: the token itself is the most probable one.
        EXPECT_EQ(logprobs["top_logprobs"][i][text.substr(i, 1)], logprobs["token_logprobs"][i]);
        EXPECT_LT(logprobs["token_logprobs"][i].get<double>(), 0);
    }
}

TEST_F(Completions, GivesTheSameTextForTheSameSeed) {
    const std::string body =
        R"({"model": "fake", "prompt": "abc", "max_tokens": 30, "temperature": 1.5, "seed": -7})";
    const auto first = complete(body).second["choices"][0]["text"];
    EXPECT_EQ(complete(body).second["choices"][0]["text"], first);
    EXPECT_NE(
        complete(R"({"model": "fake", "prompt": "abc", "max_tokens": 30, "temperature": 1.5, "seed": 8})")
            .second["choices"][0]["text"],
        first);
}

TEST_F(Completions, StreamsTheSameTextInPieces) {
    const auto list =
        events("/v1/completions", R"({"model": "fake", "prompt": "abc", "max_tokens": 12, "temperature": 0,
        "stream": true, "stream_options": {"include_usage": true}})");
    std::string text;
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        text += list[i]["choices"][0]["text"].get<std::string>();
        EXPECT_TRUE(list[i]["usage"].is_null());
    }
    EXPECT_EQ(text, FakeBackend::greedy("abc", 12));
    EXPECT_EQ(list[list.size() - 2]["choices"][0]["finish_reason"], "length");
    EXPECT_TRUE(list.back()["choices"].empty());
    EXPECT_EQ(list.back()["usage"]["completion_tokens"], 12);
}

struct Refused {
    const char* why;
    const char* body;
    int status;
    const char* param;
};

class ACompletion : public ServerFixture, public ::testing::WithParamInterface<Refused> {};

TEST_P(ACompletion, IsRefusedWithAStatusAndTheParameter) {
    const auto [status, answer] = complete(GetParam().body);
    EXPECT_EQ(status, GetParam().status) << answer;
    ASSERT_TRUE(answer.contains("error")) << answer;
    EXPECT_GT(answer["error"]["message"].get<std::string>().size(), 15U);
    EXPECT_EQ(answer["error"]["type"], "invalid_request_error");
    EXPECT_EQ(answer["error"]["param"], *GetParam().param ? json(GetParam().param) : json());
    EXPECT_EQ(backend().stats()->finished, 0);
}

INSTANTIATE_TEST_SUITE_P(
    WithABody, ACompletion,
    ::testing::Values(
        Refused{"NoJson", "{", 400, ""}, Refused{"Empty", "", 400, ""}, Refused{"List", "[]", 400, ""},
        Refused{"InvalidUtf8", "{\"model\": \"fake\", \"prompt\": \"\xff\"}", 400, ""},
        Refused{"LoneSurrogate", R"({"model": "fake", "prompt": "\ud800"})", 400, ""},
        Refused{"KeyTwice", R"({"model": "fake", "prompt": "a", "prompt": "b"})", 400, ""},
        Refused{"NotANumber", R"({"model": "fake", "prompt": "a", "temperature": NaN})", 400, ""},
        Refused{"Infinity", R"({"model": "fake", "prompt": "a", "temperature": 1e999})", 400, ""},
        Refused{"UnknownModel", R"({"model": "gpt-4", "prompt": "a"})", 404, "model"},
        Refused{"NoModel", R"({"prompt": "a"})", 400, "model"},
        Refused{"ModelOfAnotherType", R"({"model": 3, "prompt": "a"})", 400, "model"},
        Refused{"NoPrompt", R"({"model": "fake"})", 400, "prompt"},
        Refused{"EmptyPrompt", R"({"model": "fake", "prompt": ""})", 400, "prompt"},
        Refused{"EmptyList", R"({"model": "fake", "prompt": []})", 400, "prompt"},
        Refused{"EmptyTokens", R"({"model": "fake", "prompt": [[]]})", 400, "prompt"},
        Refused{"MixedList", R"({"model": "fake", "prompt": ["a", 1]})", 400, "prompt"},
        Refused{"NegativeToken", R"({"model": "fake", "prompt": [-1]})", 400, "prompt"},
        Refused{"UnknownToken", R"({"model": "fake", "prompt": [24]})", 400, "prompt"},
        Refused{"PromptOverTheContext", R"({"model": "fake", "prompt": [1,2], "max_tokens": 255})", 400,
                "prompt"},
        Refused{"HugeLength", R"({"model": "fake", "prompt": "a", "max_tokens": 9223372036854775807})", 400,
                "prompt"},
        Refused{"LengthOver64Bits", R"({"model": "fake", "prompt": "a", "max_tokens": 9223372036854775808})",
                400, "max_tokens"},
        Refused{"NegativeLength", R"({"model": "fake", "prompt": "a", "max_tokens": -1})", 400, "max_tokens"},
        Refused{"FractionalLength", R"({"model": "fake", "prompt": "a", "max_tokens": 1.5})", 400,
                "max_tokens"},
        Refused{"TextualLength", R"({"model": "fake", "prompt": "a", "max_tokens": "5"})", 400, "max_tokens"},
        Refused{"HotTemperature", R"({"model": "fake", "prompt": "a", "temperature": 2.1})", 400,
                "temperature"},
        Refused{"NegativeTemperature", R"({"model": "fake", "prompt": "a", "temperature": -0.1})", 400,
                "temperature"},
        Refused{"TopPOverOne", R"({"model": "fake", "prompt": "a", "top_p": 1.1})", 400, "top_p"},
        Refused{"NoChoices", R"({"model": "fake", "prompt": "a", "n": 0})", 400, "n"},
        Refused{"TooManyChoices", R"({"model": "fake", "prompt": ["a", "b"], "n": 64})", 400, "n"},
        Refused{"TrueAsNumber", R"({"model": "fake", "prompt": "a", "n": true})", 400, "n"},
        Refused{"EmptyStop", R"({"model": "fake", "prompt": "a", "stop": ""})", 400, "stop"},
        Refused{"StopOfNumbers", R"({"model": "fake", "prompt": "a", "stop": [1]})", 400, "stop"},
        Refused{"ManyLogprobs", R"({"model": "fake", "prompt": "a", "logprobs": 21})", 400, "logprobs"},
        Refused{"Bias", R"({"model": "fake", "prompt": "a", "logit_bias": {"5": 1}})", 400, "logit_bias"},
        Refused{"Suffix", R"({"model": "fake", "prompt": "a", "suffix": "b"})", 400, "suffix"},
        Refused{"BestOf", R"({"model": "fake", "prompt": "a", "best_of": 2})", 400, "best_of"},
        Refused{"EchoWithLogprobs", R"({"model": "fake", "prompt": "a", "echo": true, "logprobs": 1})", 400,
                "echo"},
        Refused{"UnknownParameter", R"({"model": "fake", "prompt": "a", "temprature": 1})", 400,
                "temprature"},
        Refused{"StreamOptionsAlone", R"({"model": "fake", "prompt": "a", "stream_options": {}})", 400,
                "stream_options"}),
    [](const auto& info) { return std::string(info.param.why); });

TEST_F(Completions, RefusesDeepNestingAndLongStopLists) {
    const std::string deep =
        R"({"model": "fake", "prompt": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    EXPECT_EQ(complete(deep).first, 400);
    const json stops = json(std::vector<std::string>(1000, "x"));
    EXPECT_EQ(complete(json{{"model", "fake"}, {"prompt", "a"}, {"stop", stops}}.dump()).first, 400);
}

TEST_F(Completions, SaysWhatTheCacheCannotHold) {
    m_options.blocks.blocks = 2; // 16 tokens
    const auto [status, answer] = complete(R"({"model": "fake", "prompt": "abcd", "max_tokens": 30})");
    EXPECT_EQ(status, 400);
    EXPECT_EQ(answer["error"]["code"], "context_length_exceeded");
    EXPECT_EQ(complete(R"({"model": "fake", "prompt": "abcd", "max_tokens": 10})").first, 200);
}

TEST_F(Completions, RefusesABodyOfAnotherType) {
    const std::string form = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                             "application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}";
    EXPECT_EQ(call(form).first, 415);
}

} // namespace
} // namespace workbench::testing
