#include "app/session/incremental_text.h"
#include "app/session/tokenizer_client.h"
#include "app/session/trace_store.h"
#include "app/session/tracer.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// The Python is fake_python.py, in the mode that FAKE_TRACER names.
class TracerTest : public TemporaryFolder {
protected:
    TracerTest() {
        ::setenv("WORKBENCH_PYTHON", WORKBENCH_FAKE_PYTHON, 1);
        ::setenv("FAKE_TRACER_LOG", (folder() / "log").c_str(), 1);
        mode("works");
    }
    ~TracerTest() override { ::unsetenv("WORKBENCH_PYTHON"); }
    static void mode(const char* name) { ::setenv("FAKE_TRACER", name, 1); }

    Tracer tracer() const {
        auto made = Tracer::create({"", "/resources", folder()});
        EXPECT_TRUE(made.ok());
        return *made;
    }
    Result<fs::path> get(const TraceOptions& options = {}) {
        return TraceStore(folder() / "traces").get(tracer(), "/model", options, m_job);
    }
    std::string log() const {
        std::ifstream stream(folder() / "log");
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    /// Folders below the trace cache; locks are files.
    std::vector<std::string> folders() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder() / "traces"))
            if (entry.is_directory())
                names.push_back(entry.path().filename());
        return names;
    }

    CancelToken m_cancel;
    std::vector<std::string> m_stages;
    Job m_job{&m_cancel, [this](std::string_view stage, std::string_view) { m_stages.emplace_back(stage); }};
};

TEST_F(TracerTest, ATraceIsMadeOnceAndKept) {
    const auto first = get();
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_TRUE(fs::exists(*first / "trace.json"));
    EXPECT_EQ(m_stages, (std::vector<std::string>{"build"}));
    const auto second = get();
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(*first, *second);
    const std::string lines = log();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
    EXPECT_EQ(folders(), (std::vector<std::string>{"keyauto"}));
}

TEST_F(TracerTest, PassesItsOptionsOn) {
    TraceOptions options;
    options.dtype = TraceDtype::f32;
    options.trustRemoteCode = true;
    options.replica = true;
    ASSERT_TRUE(get(options).ok());
    for (const char* words : {"--model /model", "--dtype float32", "--trust-remote-code", "--replica"})
        EXPECT_NE(log().find(words), std::string::npos) << log();
}

TEST_F(TracerTest, OutputOfTheModelsOwnCodeDoesNotDisturb) {
    mode("chatty");
    EXPECT_TRUE(get().ok());
}

TEST_F(TracerTest, ReportsItsOwnFailuresByKind) {
    mode("bad-input");
    auto trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::badInput);
    EXPECT_EQ(trace.error().message, "This is an adapter.");
    mode("not-traced");
    trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::cannotTrace);
    EXPECT_EQ(trace.error().where, "a.py:7");
    EXPECT_TRUE(folders().empty());
}

TEST_F(TracerTest, ADeathNamesTheSignalAndTheLastWordsAndLeavesNothing) {
    mode("killed");
    const auto trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::cannotTrace);
    EXPECT_EQ(trace.error().message, "the tracer was killed by signal 9 (Killed): the last words");
    EXPECT_TRUE(folders().empty());
}

TEST_F(TracerTest, ATraceThatIsNotThereIsAFailure) {
    mode("writes-nothing");
    const auto trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::cannotTrace);
}

TEST_F(TracerTest, ATimeLimitEndsIt) {
    mode("hangs");
    TraceOptions options;
    options.timeLimit = 4s; // the fake itself starts within it on a busy machine
    const auto trace = get(options);
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::cannotTrace);
    EXPECT_NE(trace.error().message.find("--time-limit"), std::string::npos) << trace.error().message;
    EXPECT_TRUE(folders().empty());
}

TEST_F(TracerTest, ACancelEndsItAndLeavesNothing) {
    mode("hangs");
    m_job.progress = [this](std::string_view, std::string_view) { m_cancel.cancel(); };
    const auto trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::cancelled);
    EXPECT_TRUE(folders().empty());
}

TEST_F(TracerTest, AKeyThatIsAPathIsRefused) {
    mode("evil-key");
    const auto trace = get();
    ASSERT_FALSE(trace.ok());
    EXPECT_FALSE(fs::exists(folder() / "escape"));
}

TEST_F(TracerTest, AHalfWrittenTraceIsMadeAnew) {
    fs::create_directories(folder() / "traces" / "keyauto");
    std::ofstream(folder() / "traces" / "keyauto" / "trace.json") << "{";
    ASSERT_TRUE(get().ok());
    EXPECT_TRUE(fs::exists(folder() / "traces" / "keyauto" / "trace.pt2"));
}

TEST_F(TracerTest, APythonThatIsNotThereIsNamed) {
    ::setenv("WORKBENCH_PYTHON", "/nowhere/python", 1);
    const auto made = Tracer::create({"", "/resources", folder()});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::cannotTrace);
    EXPECT_NE(made.error().message.find("/nowhere/python"), std::string::npos);
    EXPECT_NE(made.error().message.find("workbench setup"), std::string::npos);
}

TEST_F(TracerTest, ResolvesHubNames) {
    const auto path = tracer().resolve("org/name@v1", true, m_job);
    ASSERT_TRUE(path.ok());
    EXPECT_EQ(path->path, "/models/org/name@v1");
    EXPECT_EQ(path->warning, "");
}

TEST_F(TracerTest, TheTokenizerEncodesAndDecodes) {
    auto tokenizer = TokenizerClient::start(tracer(), "/model", false);
    ASSERT_TRUE(tokenizer.ok());
    EXPECT_EQ(tokenizer->encode("four", m_job).value(), (TokenizerClient::Tokens{4, 2, 3}));
    EXPECT_EQ(tokenizer->chat("hi", m_job).value(), (TokenizerClient::Tokens{9}));
    EXPECT_EQ(tokenizer->decode({1, 2, 3}, m_job).value(), "Hello world");
}

/// A text that grows token by token.
class Growing {
public:
    Growing(TokenizerClient& tokenizer, const Job& job) : m_tokenizer(tokenizer), m_job(job) {}
    std::string add(std::int64_t token) {
        m_text.push(token);
        const std::string window = m_tokenizer.decode(m_text.window(), m_job).value();
        return m_text.take(window, m_tokenizer.decode(m_text.fresh(), m_job).value());
    }
    std::string finish() { return m_text.finish(); }

private:
    TokenizerClient& m_tokenizer;
    const Job& m_job;
    IncrementalText m_text;
};

TEST_F(TracerTest, StreamedTextIsTheTextOfAllTokens) {
    auto tokenizer = TokenizerClient::start(tracer(), "/model", false);
    ASSERT_TRUE(tokenizer.ok());
    const TokenizerClient::Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 1, 6, 1, 4, 5, 4, 4, 5, 3};
    Growing text(*tokenizer, m_job);
    std::string streamed;
    for (const std::int64_t token : tokens)
        streamed += text.add(token);
    streamed += text.finish();
    EXPECT_EQ(streamed, tokenizer->decode(tokens, m_job).value());
}

TEST_F(TracerTest, HalfACharacterIsHeldBackAndComesAtTheEnd) {
    auto tokenizer = TokenizerClient::start(tracer(), "/model", false);
    ASSERT_TRUE(tokenizer.ok());
    Growing text(*tokenizer, m_job);
    EXPECT_EQ(text.add(1), "Hello");
    EXPECT_EQ(text.add(4), "");
    EXPECT_EQ(text.add(5), "\xc3\xa9");
    EXPECT_EQ(text.add(4), "");
    EXPECT_EQ(text.finish(), "\xef\xbf\xbd");
}

TEST_F(TracerTest, ATokenizerThatFailsOrDiesSaysWhy) {
    mode("bad-input");
    auto tokenizer = TokenizerClient::start(tracer(), "/model", false);
    auto chat = tokenizer->chat("hi", m_job);
    ASSERT_FALSE(chat.ok());
    EXPECT_EQ(chat.error().code, ErrorCode::badInput);
    EXPECT_EQ(chat.error().message, "There is no chat template.");
    mode("not-loaded");
    tokenizer = TokenizerClient::start(tracer(), "/model", false);
    chat = tokenizer->chat("hi", m_job);
    ASSERT_FALSE(chat.ok());
    EXPECT_EQ(chat.error().code, ErrorCode::badInput);
    EXPECT_EQ(chat.error().message, "The tokenizer cannot be loaded.");
    mode("killed");
    tokenizer = TokenizerClient::start(tracer(), "/model", false);
    chat = tokenizer->chat("hi", m_job);
    ASSERT_FALSE(chat.ok());
    EXPECT_EQ(chat.error().code, ErrorCode::runtimeFailed);
    EXPECT_EQ(chat.error().message, "the tokenizer was killed by signal 9 (Killed): no tokenizer");
}

} // namespace
} // namespace workbench
