#include "app/session/bench_report.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace workbench {
namespace {

using nlohmann::json;

BenchProgram programOf(double speed) {
    return {{{10 * speed, speed, speed / 2},
             {11 * speed, 1.1 * speed, speed / 3},
             {10 * speed, speed, speed / 3},
             {10 * speed, speed, speed / 3},
             {10 * speed, speed, speed / 3},
             {9 * speed, 0.9 * speed, speed / 4}},
            {100, 1000 / speed, 1200 / speed, 1500 / speed, 2000 / speed, 110, 120}};
}

BenchReport someReport() {
    BenchReport report;
    report.model = "LlamaForCausalLM";
    report.dtype = "bf16";
    report.randomWeights = true;
    report.machine = {{"threads", 2}, {"isa", "AVX512"}};
    report.load = {64, 32, 3, {"Why is the sky blue?"}};
    report.before = programOf(40);
    report.after = programOf(50);
    report.patterns = {{"qkv", 30, programOf(45)}};
    return report;
}

json someJson() {
    return json::parse(toJson(someReport()).dump());
}

std::string errorOf(const json& document) {
    const auto read = benchFromJson(document.dump(), "bench.json");
    return read ? "" : read.error().message;
}

TEST(BenchReport, StatesTokensPerSecondOfEachProgram) {
    const json document = someJson();
    EXPECT_NEAR(document["after"]["tokens_per_s"]["median"].get<double>(), 50.0 / 3, 1e-9);
    EXPECT_EQ(document["after"]["decode"]["tokens_per_s"],
              (json{{"median", 50.0}, {"min", 45.0}, {"max", 1.1 * 50}}));
    EXPECT_EQ(document["before"]["prefill"]["tokens_per_s"]["median"], 400.0);
    EXPECT_NEAR(document["change"]["decode"]["ratio"].get<double>(), 1.25, 1e-9);
    EXPECT_EQ(document["change"]["decode"]["verdict"], "faster");
    EXPECT_NEAR(document["patterns"][0]["decode"]["ratio"].get<double>(), 50.0 / 45, 1e-9);
}

TEST(BenchReport, MoreRoundsThanAnybodyMeasuresAreRefused) {
    json document = someJson();
    document["after"]["rounds"] = json::array();
    for (int i = 0; i <= 100'000; ++i)
        document["after"]["rounds"].push_back({{"prefill", 1.0}, {"output", 1.0}});
    EXPECT_NE(errorOf(document).find("after.rounds has more than 100000 entries"), std::string::npos)
        << errorOf(document);
}

TEST(BenchReport, IsReadBackAsItWasWritten) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "bench.json";
    ASSERT_TRUE(writeBench(someReport(), file));
    const auto read = readBench(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(toJson(*read), toJson(someReport()));
}

TEST(BenchReport, KeepsTransformersOrTheReasonWhyItIsNotThere) {
    BenchReport report = someReport();
    report.eager = programOf(20);
    const json document = json::parse(toJson(report).dump());
    EXPECT_NEAR(document["against_eager"]["decode"]["ratio"].get<double>(), 2.5, 1e-9);
    const auto read = benchFromJson(document.dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(toJson(*read), toJson(report));
    report.eager.reset();
    report.eagerReason = "An archive is not a model.";
    const auto without = benchFromJson(toJson(report).dump(), "bench.json");
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_EQ(without->eagerReason, report.eagerReason);
}

TEST(BenchReport, KeepsHandWrittenCodeProfileAndMemory) {
    BenchReport report = someReport();
    report.native = programOf(51);
    report.nativeCheck = {{"relative_error", 0.0}};
    report.profile = {{"after", {{"steps", 3}}}};
    report.memory = {{"peak_bytes", 5}};
    const json document = json::parse(toJson(report).dump());
    EXPECT_NEAR(document["against_native"]["decode"]["ratio"].get<double>(), 50.0 / 51, 1e-9);
    const auto read = benchFromJson(document.dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(toJson(*read), toJson(report));
    report.native.reset();
    report.nativeReason = "it is another kind of model";
    const auto without = benchFromJson(toJson(report).dump(), "bench.json");
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_EQ(without->nativeReason, report.nativeReason);
    EXPECT_EQ(json::parse(toJson(report).dump())["native"]["available"], false);
}

TEST(BenchReport, KeepsTheTimesOfNodes) {
    BenchReport report = someReport();
    report.nodeTimes =
        NodeTimes{"sha256:1", "sha256:2", {{"linear", 0.5}, {"silu", 0.25}}, {{"linear", 0.5}}};
    json document = json::parse(toJson(report).dump());
    const auto read = benchFromJson(document.dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->nodeTimes, report.nodeTimes);
    document["node_ms"]["before"]["silu"] = -1;
    EXPECT_NE(errorOf(document).find("node_ms.before.silu"), std::string::npos) << errorOf(document);
    document["node_ms"]["before"] = json::array();
    EXPECT_NE(errorOf(document).find("node_ms.before"), std::string::npos) << errorOf(document);
}

TEST(BenchReport, ALoadOfPromptsAloneHasNoDecoding) {
    BenchReport report = someReport();
    report.load = loadOf(LoadKind::prefill);
    report.patterns.clear();
    for (BenchProgram* program : {&report.before, &report.after}) {
        for (BenchRound& round : program->rounds)
            round.decode = 0;
        program->latency = {100, NAN, NAN, NAN, NAN, 100, 100};
    }
    const json document = json::parse(toJson(report).dump());
    EXPECT_EQ(document["before"]["tokens_per_s"], document["before"]["prefill"]["tokens_per_s"]);
    EXPECT_FALSE(document["change"].contains("decode"));
    const auto read = benchFromJson(document.dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(toJson(*read), toJson(report));
}

TEST(BenchReport, KeepsATraceAndReadsAFileOfOneKindOfLoad) {
    BenchReport report = someReport();
    report.load.kind = LoadKind::trace;
    report.load.trace = {{0, 5, 3}, {0.5, 7, 2}};
    const auto read = benchFromJson(toJson(report).dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->load.trace.size(), 2u);
    EXPECT_EQ(read->load.trace[1].arrivalSeconds, 0.5);
    json old = someJson();
    old["load"].erase("kind");
    old["load"].erase("concurrency");
    EXPECT_EQ(errorOf(old), "");
    old["load"]["kind"] = "heavy";
    EXPECT_NE(errorOf(old).find("load.kind"), std::string::npos);
}

TEST(BenchReport, KeepsTheFormatOfWeightsAndWhatIsNotInIt) {
    BenchReport report = someReport();
    report.load.weights = "int4";
    report.products["after"] = {{"quantised", {{"matrices", 7}, {"bytes", 1000000}}},
                                {"stored", {{"matrices", 2}, {"bytes", 3000000}}}};
    const auto read = benchFromJson(toJson(report).dump(), "bench.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->load.weights, "int4");
    EXPECT_EQ(describeProducts(*read),
              (std::vector<std::string>{"after: 2 matrices that products read stay as they are stored (3.0 "
                                        "MB), 7 are in int4 (1.0 MB)"}));
    EXPECT_TRUE(describeProducts(someReport()).empty());
    json document = json::parse(toJson(report).dump());
    document["load"]["weights"] = "int3";
    EXPECT_NE(errorOf(document).find("load.weights is 'int3', not one of stored, int8, int4"),
              std::string::npos)
        << errorOf(document);
}

TEST(BenchReport, APatternThatAStopLeftUnmeasuredIsLeftOut) {
    BenchReport report = someReport();
    report.patterns.push_back({"rope", 30, {}});
    const json document = json::parse(toJson(report).dump());
    EXPECT_EQ(document["patterns"].size(), 1u);
    EXPECT_EQ(errorOf(document), "");
}

TEST(BenchReport, ErrorsNameFileAndKey) {
    json document = someJson();
    document["after"]["decode"]["tokens_per_s"]["mean"] = 3;
    EXPECT_EQ(errorOf(document),
              "the measurement bench.json: after.decode.tokens_per_s.mean is an unknown key");
    document = someJson();
    document["before"].erase("rounds");
    EXPECT_EQ(errorOf(document), "the measurement bench.json: before.rounds is missing");
    document = someJson();
    document["load"]["rounds"] = "three";
    EXPECT_NE(errorOf(document).find("load.rounds"), std::string::npos);
    document = someJson();
    document["after"]["rounds"][1]["decode"] = -1;
    EXPECT_EQ(errorOf(document),
              "the measurement bench.json: after.rounds[1].decode is not a positive number");
    document = someJson();
    document["load"]["new_tokens"] = 0;
    EXPECT_EQ(errorOf(document), "the measurement bench.json: load.new_tokens is not at least 1");
    document = someJson();
    document["after"]["rounds"] = json::array();
    EXPECT_EQ(errorOf(document), "the measurement bench.json: after.rounds is empty");
}

TEST(BenchReport, AnotherSchemaIsRefusedBeforeAllElse) {
    json document = {{"schema", 2}, {"new", 1}};
    EXPECT_NE(errorOf(document).find("schema is 2, but this version reads only 1"), std::string::npos)
        << errorOf(document);
}

TEST(BenchReport, FiguresThatDoNotAgreeWithTheirRoundsAreRefused) {
    json document = someJson();
    document["after"]["decode"]["tokens_per_s"]["median"] = 51;
    EXPECT_EQ(errorOf(document),
              "the measurement bench.json: after.decode.tokens_per_s.median does not agree with the rounds");
}

TEST(BenchReport, TextThatIsNoMeasurementIsASentence) {
    for (const char* text : {"", "{", "[]", "3", "{\"schema\": \"one\"}", "{\"schema\": 1, \"schema\": 1}"}) {
        const auto read = benchFromJson(text, "bench.json");
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code, ErrorCode::badInput);
        EXPECT_NE(read.error().message.find("bench.json"), std::string::npos) << read.error().message;
    }
}

TEST(BenchReport, AFileThatIsNotThereIsNamed) {
    EXPECT_NE(readBench("/nowhere/bench.json").error().message.find("/nowhere/bench.json"),
              std::string::npos);
}

} // namespace
} // namespace workbench
