#include "core/support/subprocess.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace workbench {
namespace {

using namespace std::chrono_literals;

Command shell(std::string script) {
    return {{"/bin/sh", "-c", std::move(script)}, {}, {}};
}

struct Collected {
    Result<Finished> finished;
    std::vector<std::string> lines;
};

Collected run(const Command& command, LineOptions options = {}) {
    std::vector<std::string> lines;
    options.onLine = [&](std::string_view line) { lines.emplace_back(line); };
    auto finished = runLines(command, options);
    return {std::move(finished), std::move(lines)};
}

bool alive(pid_t pid) {
    return ::kill(pid, 0) == 0;
}

/// Waits for a killed orphan to be reaped by init.
bool diesSoon(pid_t pid) {
    for (int i = 0; i < 500 && alive(pid); ++i)
        std::this_thread::sleep_for(10ms);
    return !alive(pid);
}

TEST(Subprocess, GivesLinesExitStatusAndTheEndOfStderr) {
    const auto [finished, lines] = run(shell("printf 'one\\ntwo\\r\\nlast'; echo why >&2; exit 3"));
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "last"}));
    EXPECT_EQ(finished->how, Finished::How::exited);
    EXPECT_EQ(finished->exit.text(), "exited with status 3");
    EXPECT_EQ(finished->errorTail, "why\n");
}

TEST(Subprocess, NamesTheSignalThatKilled) {
    const auto [finished, lines] = run(shell("kill -9 $$"));
    ASSERT_TRUE(finished.ok());
    EXPECT_FALSE(finished->exit.success());
    EXPECT_EQ(finished->exit.text(), "was killed by signal 9 (Killed)");
}

TEST(Subprocess, RunsNoShell) {
    const auto [finished, lines] = run({{"echo", "$HOME; echo two"}, {}, {}});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(lines, (std::vector<std::string>{"$HOME; echo two"}));
}

TEST(Subprocess, AddsToTheEnvironmentAndChangesTheDirectory) {
    ::setenv("WORKBENCH_TEST_KEPT", "kept", 1);
    ::setenv("WORKBENCH_TEST_REPLACED", "old", 1);
    Command command = shell("echo $WORKBENCH_TEST_KEPT $WORKBENCH_TEST_REPLACED; pwd");
    command.environment["WORKBENCH_TEST_REPLACED"] = "new";
    command.directory = "/";
    EXPECT_EQ(run(command).lines, (std::vector<std::string>{"kept new", "/"}));
}

TEST(Subprocess, AMissingProgramIsAnErrorThatNamesIt) {
    const auto [finished, lines] = run({{"/nowhere/program"}, {}, {}});
    ASSERT_FALSE(finished.ok());
    EXPECT_EQ(finished.error().code, ErrorCode::runtimeFailed);
    EXPECT_EQ(finished.error().message,
              "the program '/nowhere/program' cannot be started: No such file or directory");
}

TEST(Subprocess, ReadsItsStdinAsEmpty) {
    EXPECT_EQ(run(shell("cat; echo end")).lines, (std::vector<std::string>{"end"}));
}

TEST(Subprocess, AChattyStderrDoesNotBlockAndOnlyItsEndIsKept) {
    const auto [finished, lines] =
        run(shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2; echo done"));
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(lines, (std::vector<std::string>{"done"}));
    EXPECT_EQ(finished->errorTail.size(), std::size_t{16} << 10);
    EXPECT_TRUE(finished->errorTail.ends_with("xend\n"));
}

TEST(Subprocess, CancelKillsTheWholeGroup) {
    CancelToken cancel;
    pid_t child = 0;
    LineOptions options;
    options.cancel = &cancel;
    options.onLine = [&](std::string_view line) {
        child = static_cast<pid_t>(std::atoi(std::string(line).c_str()));
        cancel.cancel();
    };
    const auto finished = runLines(shell("sleep 1000 & echo $!; wait"), options);
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::cancelled);
    EXPECT_EQ(finished->exit.signal, SIGKILL);
    ASSERT_GT(child, 0);
    EXPECT_TRUE(diesSoon(child));
}

TEST(Subprocess, ATimeLimitKills) {
    LineOptions options;
    options.timeLimit = 50ms;
    const auto begin = std::chrono::steady_clock::now();
    const auto [finished, lines] = run(shell("echo begun; exec sleep 1000"), options);
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::timedOut);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST(Subprocess, ATimeLimitAlsoHoldsAfterStdoutIsClosed) {
    LineOptions options;
    options.timeLimit = 50ms;
    const auto [finished, lines] = run(shell("exec sleep 1000 >&-"), options);
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::timedOut);
}

TEST(Subprocess, AChildThatKeepsThePipesDoesNotHoldUpTheEnd) {
    const auto [finished, lines] = run(shell("setsid sleep 3 & echo done"));
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::exited);
    EXPECT_TRUE(finished->exit.success());
    EXPECT_EQ(lines, (std::vector<std::string>{"done"}));
}

TEST(Subprocess, ATimeLimitBeyondTheClockIsNone) {
    LineOptions options;
    options.timeLimit = std::chrono::milliseconds::max();
    const auto [finished, lines] = run(shell("echo done"), options);
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::exited);
}

TEST(Subprocess, AHeldInputEndsOnlyWithTheWait) {
    LineOptions options;
    options.input = LineOptions::Input::held;
    options.timeLimit = 100ms;
    const auto [finished, lines] =
        run(shell("echo $WORKBENCH_LIFELINE; cat; echo orderly > /dev/null; exit 7"), options);
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->how, Finished::How::timedOut);
    EXPECT_EQ(finished->exit.status, 7) << "it was not given time for an orderly end";
    EXPECT_EQ(lines, (std::vector<std::string>{"0"}));
}

TEST(Subprocess, AnEndlessLineIsAnError) {
    const auto [finished, lines] = run(shell("exec cat /dev/zero"));
    ASSERT_FALSE(finished.ok());
    EXPECT_NE(finished.error().message.find("16 MiB"), std::string::npos);
}

TEST(Subprocess, TalksThroughPipesUntilItsInputCloses) {
    auto process = Subprocess::start({{"cat"}, {}, {}});
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(process->write("hello"));
    char buffer[8] = {};
    ASSERT_EQ(::read(process->output(), buffer, 5), 5);
    EXPECT_STREQ(buffer, "hello");
    EXPECT_FALSE(process->wait(1ms).has_value());
    process->closeInput();
    const auto exit = process->wait(60s);
    ASSERT_TRUE(exit.has_value());
    EXPECT_TRUE(exit->success());
}

TEST(Subprocess, WritingToADeadProcessIsNoSignal) {
    auto process = Subprocess::start({{"true"}, {}, {}});
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(process->wait(60s).has_value());
    EXPECT_FALSE(process->write("hello"));
}

TEST(Subprocess, DestructionKills) {
    pid_t pid = 0;
    {
        auto process = Subprocess::start({{"sleep", "1000"}, {}, {}});
        ASSERT_TRUE(process.ok());
        pid = process->pid();
        ASSERT_TRUE(alive(pid));
    }
    EXPECT_FALSE(alive(pid));
}

TEST(Subprocess, ItsDescriptorsDoNotLeakIntoOtherChildren) {
    auto first = Subprocess::start({{"cat"}, {}, {}});
    ASSERT_TRUE(first.ok());
    auto second = Subprocess::start({{"sleep", "1000"}, {}, {}});
    ASSERT_TRUE(second.ok());
    first->closeInput(); // the end of the pipe would stay open in the second
    EXPECT_TRUE(first->wait(60s).has_value());
}

TEST(LastLine, SkipsBlankLines) {
    EXPECT_EQ(lastLine("a\n  b c \r\n\n"), "b c");
    EXPECT_EQ(lastLine("\n \n"), "");
    EXPECT_EQ(lastLine("only"), "only");
}

} // namespace
} // namespace workbench
