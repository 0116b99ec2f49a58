#include "core/archive/trace_reader.h"
#include "tests/core/archive/made_archive.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

using Json = nlohmann::json;

class TraceReader : public TemporaryFolder {
protected:
    TraceReader() {
        sidecar = Json::parse(R"({
            "schema": 1,
            "tracer": {"version": "0.1.0", "torch": "2.11.0", "transformers": "5.24.0"},
            "model": {"class": "ToyForCausalLM", "model_type": "toy", "dtype": "bfloat16", "checkpoint_dtype": "bfloat16", "hidden_size": 3,
                      "num_layers": 1, "vocab_size": 2, "max_window": 5, "context_length": 64, "eos_token_ids": [1, 2], "bos_token_id": null,
                      "config": {"rms_norm_eps": 1e-6}},
            "layers": null,
            "parameters": {"norm.weight": {"shape": [2, 3], "dtype": "float32", "op": "cat", "dim": 0,
                           "from": [{"tensor": "a"}, {"from": [{"tensor": "b"}, {"tensor": "c"}], "op": "stack", "dim": 0}]}},
            "tied": [], "computed": ["norm.scale"], "sources": {"/src/model.py": "00ff"},
            "proof": {"reference": "transformers eager", "dtype": "float32", "sequences": [13, 20], "max_abs_error": 1e-7,
                      "relative_error": 2e-7, "tolerance": 1e-4},
            "warnings": ["something"]})");
    }

    Result<Trace> read() const {
        writeFile("trace.pt2", archive.bytes());
        writeFile("trace.json", sidecar.dump());
        return readTrace(folder());
    }
    std::string problem() const {
        const Result<Trace> trace = read();
        return trace ? "none" : trace.error().message;
    }

    MadeArchive archive;
    Json sidecar;
};

TEST_F(TraceReader, GivesGraphAndFacts) {
    const Trace trace = read().value();
    EXPECT_EQ(trace.graph.nodes.size(), 4U);
    EXPECT_EQ(trace.facts.className, "ToyForCausalLM");
    EXPECT_EQ(trace.facts.dtype, ScalarType::bf16);
    EXPECT_EQ(trace.facts.eosTokens, (std::vector<std::int64_t>{1, 2}));
    EXPECT_FALSE(trace.facts.bosToken);
    EXPECT_EQ(trace.facts.maxWindow, 5);
    EXPECT_EQ(trace.versions.at("tracer"), "0.1.0");
    EXPECT_EQ(trace.parameters.at("norm.weight").at("op"), "cat");
    EXPECT_EQ(trace.sources.at("/src/model.py"), "00ff");
    EXPECT_EQ(trace.proof->sequences, (std::vector<std::int64_t>{13, 20}));
    EXPECT_EQ(trace.config.at("rms_norm_eps"), 1e-6);
    EXPECT_EQ(trace.warnings, std::vector<std::string>{"something"});
}

TEST_F(TraceReader, UnknownKeysVersionsAndTypesAreErrors) {
    sidecar["extra"] = 1;
    EXPECT_NE(problem().find("extra is an unknown key"), std::string::npos) << problem();
    sidecar.erase("extra");
    sidecar["schema"] = 2;
    EXPECT_NE(problem().find("only 1 is known, trace again"), std::string::npos) << problem();
    sidecar["schema"] = 1;
    sidecar["model"]["dtype"] = "float31";
    EXPECT_NE(problem().find("model.dtype is no known element type"), std::string::npos) << problem();
    sidecar["model"]["dtype"] = "float32";
    sidecar["parameters"]["norm.weight"]["op"] = "sum";
    EXPECT_NE(problem().find("op"), std::string::npos) << problem();
    sidecar["parameters"]["norm.weight"]["op"] = "cat";
    sidecar["parameters"]["norm.weight"]["from"] = Json::array();
    EXPECT_NE(problem().find("joins no tensor"), std::string::npos) << problem();
}

TEST_F(TraceReader, EveryStoredInputMustBeExplained) {
    sidecar["parameters"] = Json::object();
    archive.weights["config"].clear();
    EXPECT_NE(problem().find("does not say where 'norm.weight' comes from"), std::string::npos) << problem();
    sidecar["parameters"]["other.weight"] = {
        {"shape", {2, 3}}, {"dtype", "float32"}, {"op", "copy"}, {"dim", 0}, {"from", {{{"tensor", "a"}}}}};
    sidecar["tied"] = Json::array({Json::array({"norm.weight", "other.weight"})});
    EXPECT_EQ(problem(), "none");
}

TEST_F(TraceReader, ShapesMustAgreeWithTheProgram) {
    sidecar["parameters"]["norm.weight"]["shape"] = {2, 4};
    EXPECT_NE(problem().find("gives 'norm.weight' another shape than its program"), std::string::npos)
        << problem();
}

TEST_F(TraceReader, MissingAndBrokenFilesAreNamed) {
    EXPECT_NE(readTrace(folder()).error().message.find("trace.json: No such file or directory"),
              std::string::npos);
    writeFile("trace.json", "{");
    EXPECT_NE(readTrace(folder()).error().message.find("trace.json is not JSON"), std::string::npos);
    writeFile("trace.json", sidecar.dump());
    EXPECT_NE(readTrace(folder()).error().message.find("trace.pt2"), std::string::npos);
}

TEST_F(TraceReader, TracedLayersAreReplicated) {
    archive = MadeArchive("parameter %p_m_0_w: f32[3, 3] \"m.0.w\"\ninput %x: f32[s0, 3]\n"
                          "%y: f32[s0, 3] = aten.linear.default(input=%x, weight=%p_m_0_w) @\"m.0\"\n%z: "
                          "f32[s0, 3] = aten.neg.default(self=%y)\noutput %z\n");
    archive.weights["config"].clear();
    archive.constants["config"].clear();
    sidecar["layers"] = {{"prefix", "m"}, {"count", 3}, {"traced_as", {0, 0, 0}}};
    sidecar["parameters"] = Json::object();
    for (const char* name : {"m.0.w", "m.1.w", "m.2.w"})
        sidecar["parameters"][name] = {{"shape", {3, 3}},
                                       {"dtype", "float32"},
                                       {"op", "copy"},
                                       {"dim", 0},
                                       {"from", {{{"tensor", name}}}}};
    const Result<Trace> trace = read();
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->graph.nodes.size(), 4U);
    sidecar["parameters"].erase("m.2.w");
    EXPECT_NE(problem().find("does not say where 'm.2.w' comes from"), std::string::npos) << problem();
}

} // namespace
} // namespace workbench
