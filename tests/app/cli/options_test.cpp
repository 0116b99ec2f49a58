#include "app/cli/command_list.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace workbench::cli {
namespace {

Parsed parsed(std::vector<const char*> words) {
    words.insert(words.begin(), "workbench");
    return parse(static_cast<int>(words.size()), words.data());
}

Options optionsOf(std::vector<const char*> words) {
    const Parsed result = parsed(std::move(words));
    EXPECT_TRUE(result.run) << result.err;
    return result.options;
}

std::string rulesOf(const Options& options) {
    std::string text;
    for (const DecisionRule& rule : options.rules)
        text += (rule.decision == Decision::apply ? "+" : "-") + rule.what + " ";
    return text;
}

TEST(Options, WithoutACommandThePlanIsMade) {
    const Options options = optionsOf({"dir", "--apply-all", "--export", "plan.json"});
    EXPECT_STREQ(options.command->name, "");
    EXPECT_EQ(options.model, "dir");
    EXPECT_EQ(rulesOf(options), "+* ");
    EXPECT_EQ(options.exportPlan, "plan.json");
}

TEST(Options, KeepTheOrderOfDecisionsAcrossOptions) {
    EXPECT_EQ(rulesOf(optionsOf(
                  {"dir", "--reject", "a", "--apply", "b", "--apply-all", "--reject", "c", "--apply=d"})),
              "-a +b +* -c +d ");
    EXPECT_EQ(rulesOf(optionsOf({"verify", "--apply", "a", "dir", "--reject", "a"})), "+a -a ");
}

TEST(Options, ARepeatableOptionDoesNotSwallowTheModel) {
    const Options options = optionsOf({"--apply", "qkv", "dir"});
    EXPECT_EQ(options.model, "dir");
    EXPECT_EQ(rulesOf(options), "+qkv ");
}

/// The command with as little as it takes.
std::vector<const char*> leastWords(const char* name) {
    static const std::map<std::string, std::vector<const char*>> others = {
        {"", {"dir"}},
        {"patterns", {"patterns"}},
        {"generate", {"generate", "dir", "--prompt", "hi"}},
        {"render", {"render", "dir", "-o", "a.svg"}},
        {"plan-diff", {"plan-diff", "a", "b"}},
        {"setup", {"setup"}},
    };
    const auto found = others.find(name);
    return found == others.end() ? std::vector<const char*>{name, "dir"} : found->second;
}

TEST(Options, EveryCommandIsItsOwn) {
    std::set<Status (*)(const Options&, Context&)> functions;
    for (const Command& command : commands()) {
        EXPECT_EQ(optionsOf(leastWords(command.name)).command, &command) << command.name;
        EXPECT_TRUE(functions.insert(command.run).second) << command.name;
    }
}

TEST(Options, WhatRunsAModelTakesTheFormatOfItsWeights) {
    EXPECT_EQ(optionsOf({"bench", "dir"}).weights, "stored");
    EXPECT_EQ(optionsOf({"bench", "dir", "--weights", "int8"}).weights, "int8");
    EXPECT_EQ(optionsOf({"verify", "dir", "--weights", "int8"}).weights, "int8");
    EXPECT_EQ(optionsOf({"generate", "dir", "--prompt", "hi", "--weights", "int4"}).weights, "int4");
    EXPECT_EQ(optionsOf({"serve", "dir", "--weights", "stored"}).weights, "stored");
    EXPECT_EQ(parsed({"bench", "dir", "--weights", "int3"}).exitCode, 2);
    EXPECT_EQ(parsed({"inspect", "dir", "--weights", "int8"}).exitCode, 2);
    EXPECT_EQ(optionsOf({"verify", "dir", "--text", "a.txt"}).text, "a.txt");
    EXPECT_EQ(parsed({"verify", "dir", "--text", "a.txt", "--tokens", "1,2"}).exitCode, 2);
    EXPECT_NE(parsed({"verify", "dir", "--weights", "int8", "--export", "plan.json"})
                  .err.find("a plan's proofs are about the weights as they are stored"),
              std::string::npos);
}

std::string nameOnADesktop(std::vector<const char*> words) {
    words.insert(words.begin(), "workbench");
    const Parsed result = parse(static_cast<int>(words.size()), words.data(), true);
    EXPECT_TRUE(result.run) << result.err;
    return result.options.command->name;
}

TEST(Options, OnADesktopTheWindowOpensUnlessThereIsWorkToDo) {
    EXPECT_EQ(nameOnADesktop({}), "window");
    EXPECT_EQ(nameOnADesktop({"dir"}), "window");
    EXPECT_EQ(nameOnADesktop({"dir", "--dtype", "f32", "--trust-remote-code", "--time-limit", "90"}),
              "window");
    EXPECT_EQ(nameOnADesktop({"dir", "--apply-all"}), "");
    EXPECT_EQ(nameOnADesktop({"dir", "--export", "plan.json"}), "");
    EXPECT_EQ(nameOnADesktop({"dir", "--plan", "plan.json"}), "");
    EXPECT_EQ(nameOnADesktop({"dir", "--require", "qkv=1"}), "");
    EXPECT_EQ(nameOnADesktop({"dir", "--quiet"}), "");
    EXPECT_EQ(nameOnADesktop({"inspect", "dir"}), "inspect");
    EXPECT_STREQ(optionsOf({"dir"}).command->name, "") << "without a desktop the report is printed";
}

TEST(Options, TheWindowIsACommandToo) {
    EXPECT_STREQ(optionsOf({"window"}).command->name, "window");
    EXPECT_EQ(optionsOf({"window", "dir", "--plan", "plan.json"}).plan, "plan.json");
    const Options pictures = optionsOf({"--screenshots", "out", "dir"});
    EXPECT_STREQ(pictures.command->name, "window");
    EXPECT_EQ(pictures.screenshots, "out");
    EXPECT_EQ(parsed({"--screenshots", "out", "dir", "--apply-all"}).exitCode, 2);
}

TEST(Options, ReadTheTracersOwn) {
    const Options options = optionsOf({"verify", "dir", "--dtype", "float32", "--time-limit", "90",
                                       "--trust-remote-code", "--worker", "ssh box workbench-worker"});
    EXPECT_EQ(options.trace.dtype, TraceDtype::f32);
    EXPECT_EQ(options.trace.timeLimit, std::chrono::seconds(90));
    EXPECT_TRUE(options.trace.trustRemoteCode);
    EXPECT_EQ(options.worker, "ssh box workbench-worker");
    EXPECT_EQ(optionsOf({"dir", "--dtype", "bf16"}).trace.dtype, TraceDtype::bf16);
}

TEST(Options, ReadTheLoadOfAMeasurement) {
    const Options options = optionsOf({"bench", "dir", "--prompt-tokens", "512", "--new-tokens", "8",
                                       "--rounds", "7", "--leave-one-out", "--json"});
    EXPECT_EQ(options.load.promptTokens, 512);
    EXPECT_EQ(options.load.newTokens, 8);
    EXPECT_EQ(options.load.rounds, 7);
    EXPECT_TRUE(options.leaveOneOut);
    EXPECT_TRUE(options.json);
    EXPECT_EQ(options.load.kind, LoadKind::single);
    EXPECT_EQ(optionsOf({"bench", "dir", "--prompts", "a.txt"}).prompts, "a.txt");
    EXPECT_EQ(optionsOf({"bisect", "dir"}).bisectBy, "numbers");
    EXPECT_EQ(optionsOf({"bisect", "dir", "--by", "speed"}).bisectBy, "speed");
}

TEST(Options, GenerateTakesPromptsAndStopsInTheirOrder) {
    const Options options = optionsOf(
        {"generate", "dir", "--prompt", "a", "--stop", "x", "--prompt", "", "--stop", "y", "--prompt", "c"});
    EXPECT_EQ(options.model, "dir");
    EXPECT_EQ(options.texts, (std::vector<std::string>{"a", "", "c"}));
    EXPECT_EQ(options.stops, (std::vector<std::string>{"x", "y"}));
}

TEST(Options, ServeStaysOnThisMachineUnlessItIsTold) {
    const ServeOptions plain = optionsOf({"serve", "dir"}).serve;
    EXPECT_EQ(plain.host, "127.0.0.1");
    EXPECT_EQ(plain.port, 8000);
    EXPECT_EQ(plain.apiKey, "");
    const Options options =
        optionsOf({"serve", "dir", "--plan", "p.json", "--host", "0.0.0.0", "--port", "0", "--api-key", "k",
                   "--max-batch-tokens", "256", "--kv-cache-bytes", "5000000000", "--max-queue", "9"});
    EXPECT_EQ(options.plan, "p.json");
    EXPECT_EQ(options.serve.host, "0.0.0.0");
    EXPECT_EQ(options.serve.port, 0);
    EXPECT_EQ(options.serve.apiKey, "k");
    EXPECT_EQ(options.serve.maxBatchTokens, 256);
    EXPECT_EQ(options.serve.kvCacheBytes, 5'000'000'000);
    EXPECT_EQ(options.serve.maxQueue, 9);
}

TEST(Options, EachKindOfLoadHasItsSizes) {
    const BenchLoad mixed = optionsOf({"bench", "--load", "mixed", "dir"}).load;
    EXPECT_EQ(mixed.kind, LoadKind::mixed);
    EXPECT_EQ(mixed.promptTokens, 64);
    EXPECT_EQ(mixed.newTokens, 64);
    EXPECT_EQ(mixed.concurrency, 16);
    const BenchLoad prefill = optionsOf({"bench", "dir", "--load", "prefill"}).load;
    EXPECT_EQ(prefill.promptTokens, 512);
    EXPECT_EQ(prefill.newTokens, 1);
    const BenchLoad own = optionsOf({"bench", "dir", "--load", "decode", "--new-tokens", "9"}).load;
    EXPECT_EQ(own.promptTokens, 8);
    EXPECT_EQ(own.newTokens, 9);
    EXPECT_EQ(optionsOf({"bench", "dir", "--concurrency", "3"}).load.concurrency, 3);
}

TEST(Options, ATraceBringsItsFile) {
    const Options options = optionsOf({"bench", "--load", "trace", "load.jsonl", "dir"});
    EXPECT_EQ(options.load.kind, LoadKind::trace);
    EXPECT_EQ(options.traceFile, "load.jsonl");
    EXPECT_EQ(options.model, "dir");
    EXPECT_EQ(parsed({"bench", "dir", "--load", "trace"}).exitCode, 2);
    EXPECT_EQ(parsed({"bench", "dir", "--load", "heavy"}).exitCode, 2);
    EXPECT_EQ(parsed({"bench", "dir", "--load", "trace", "f", "--concurrency", "2"}).exitCode, 2);
}

TEST(Options, WrongUseIsOneSentenceAndExitCode2) {
    const std::vector<std::vector<const char*>> wrong = {
        {},
        {"--no-such-option"},
        {"inspect"},
        {"dir", "--apply"},
        {"dir", "other"},
        {"dir", "--dtype", "f8"},
        {"dir", "--quiet", "--verbose"},
        {"generate", "dir"},
        {"generate", "dir", "--prompt", "x", "--max-tokens", "0"},
        {"generate", "dir", "--prompt", "x", "--stop", ""},
        {"serve"},
        {"serve", "dir", "--port", "65536"},
        {"serve", "dir", "--port", "-1"},
        {"serve", "dir", "--max-queue", "0"},
        {"serve", "dir", "--kv-cache-bytes", "4G"},
        {"serve", "dir", "--api-key", ""},
        {"plan-diff", "a"},
        {"dir", "--require", "qkv"},
        {"dir", "--require", "qkv=many"},
        {"dir", "--require", "qkv>3"},
        {"dir", "--require", "qkv=-1"},
        {"dir", "--require", "no-such-pattern=1"},
        {"dir", "--require", "=3"},
        {"dir", "--time-limit", "-1"},
        {"dir", "--time-limit", "9223372036854775808"},
        {"generate", "dir", "--prompt", "x", "--max-tokens", "99999999999999999999"},
        {"generate", "dir", "--prompt", "x", "--max-tokens", "1e3"},
        {"dir", "--apply-all=false"},
        {"dir", "--export", ""},
        {"dir", "--plan", ""},
        {"verify", "dir", "--tokens", ""},
        {""},
        {"--apply-all", "verify", "dir"},
        {"other", "verify", "dir"},
        {"dir", "--export", "a", "--export-pt2", "b/../a"},
    };
    for (const auto& words : wrong) {
        const Parsed result = parsed(words);
        EXPECT_FALSE(result.run);
        EXPECT_EQ(result.exitCode, 2);
        EXPECT_FALSE(result.err.empty());
        EXPECT_EQ(result.err.find('\n'), std::string::npos) << result.err;
        EXPECT_LT(result.err.size(), 200u) << result.err;
    }
}

TEST(Options, QuietAndVerboseMayStandBeforeTheCommand) {
    EXPECT_TRUE(optionsOf({"-q", "verify", "dir"}).quiet);
    EXPECT_TRUE(optionsOf({"--verbose", "inspect", "dir"}).verbose);
}

TEST(Options, ATimeLimitFitsIntoAClock) {
    const auto limit = optionsOf({"dir", "--time-limit", "9223372036854775807"}).trace.timeLimit;
    EXPECT_GT(limit, std::chrono::hours(1000));
    EXPECT_GT(std::chrono::steady_clock::now() + limit, std::chrono::steady_clock::now());
}

TEST(Options, RequirementsAreExactOrAtLeast) {
    const Options options = optionsOf({"dir", "--require", "rms-norm=57", "--require", "qkv>=28"});
    ASSERT_EQ(options.requirements.size(), 2u);
    EXPECT_EQ(options.requirements[0].pattern, "rms-norm");
    EXPECT_TRUE(options.requirements[0].exact);
    EXPECT_EQ(options.requirements[0].count, 57);
    EXPECT_EQ(options.requirements[1].pattern, "qkv");
    EXPECT_FALSE(options.requirements[1].exact);
}

TEST(Options, HelpStatesTheExitCodesAndVersionTheVersion) {
    const Parsed help = parsed({"--help"});
    EXPECT_EQ(help.exitCode, 0);
    for (const char* line : {"0 done", "1 a requirement", "2 wrong usage", "3 bad input", "4 the model",
                             "5 the runtime", "130 interrupted"})
        EXPECT_NE(help.out.find(line), std::string::npos) << line;
    EXPECT_EQ(parsed({"--version"}).out, "workbench " WORKBENCH_VERSION "\n");
}

} // namespace
} // namespace workbench::cli
