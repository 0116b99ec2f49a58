#include "runtime/benchmark/agreement.h"
#include "runtime/native/native_runner.h"
#include "runtime/program/program_runner.h"
#include "runtime/program/random_weights.h"
#include "tests/runtime/program/support.h"

#include <ATen/ops/cat.h>

namespace workbench::test {
namespace {

using nlohmann::json;

/// Random weights of the shapes that are asked for; norms around 1.
class RandomTensors : public ParameterSource {
public:
    Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) override {
        const auto& sources = input.derived ? input.derived->sources : std::vector<std::string>{input.target};
        std::vector<at::Tensor> parts;
        for (const std::string& name : sources) {
            std::vector<std::int64_t> shape;
            for (const SymInt& size : meta.shape)
                shape.push_back(size.constant());
            if (name.find("q_proj") != std::string::npos || name.find("gate_proj") != std::string::npos ||
                name.find("up_proj") != std::string::npos)
                shape[0] = 12;
            if (name.find("k_proj") != std::string::npos || name.find("v_proj") != std::string::npos)
                shape[0] = 6;
            parts.push_back(randomWeight(3, name, shape));
        }
        return at::cat(parts, 0);
    }
};

/// One layer with 2 query heads and 1 key head of width 6, hidden 8, intermediate 12, vocabulary 20.
json configOf(const char* architecture) {
    return {{"architectures", {architecture}},
            {"hidden_size", 8},
            {"intermediate_size", 12},
            {"num_hidden_layers", 1},
            {"num_attention_heads", 2},
            {"num_key_value_heads", 1},
            {"head_dim", 6},
            {"vocab_size", 20},
            {"rms_norm_eps", 1e-5},
            {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 100.0}}}};
}

/// The same model as a graph of separate operators.
std::string graphText(bool headNorms) {
    const auto norm = [](const std::string& out, const std::string& in, const std::string& shape,
                         const char* weight) {
        return "%" + out + ": f32[" + shape + "] = workbench.rms_norm(input=%" + in + ", weight=%" + weight +
               ", eps=1e-05, weight_offset=0.0, cast=\"before_weight\")\n";
    };
    std::string text = R"(
input %input_ids: i64[1, s0]
input %position_ids: i64[1, s0]
input %logits_to_keep: i64[s1]
parameter %embed: f32[20, 8] "model.embed_tokens.weight"
parameter %n1: f32[8] "model.layers.0.input_layernorm.weight"
parameter %n2: f32[8] "model.layers.0.post_attention_layernorm.weight"
parameter %n3: f32[8] "model.norm.weight"
parameter %wq: f32[12, 8] "model.layers.0.self_attn.q_proj.weight"
parameter %wk: f32[6, 8] "model.layers.0.self_attn.k_proj.weight"
parameter %wv: f32[6, 8] "model.layers.0.self_attn.v_proj.weight"
parameter %wo: f32[8, 12] "model.layers.0.self_attn.o_proj.weight"
parameter %wg: f32[12, 8] "model.layers.0.mlp.gate_proj.weight"
parameter %wu: f32[12, 8] "model.layers.0.mlp.up_proj.weight"
parameter %wd: f32[8, 12] "model.layers.0.mlp.down_proj.weight"
parameter %head: f32[20, 8] "lm_head.weight"
)";
    if (headNorms)
        text += "parameter %nq: f32[6] \"model.layers.0.self_attn.q_norm.weight\"\n"
                "parameter %nk: f32[6] \"model.layers.0.self_attn.k_norm.weight\"\n";
    // theta 100, width 6: 100^(-0), 100^(-1/3), 100^(-2/3)
    text += R"(
%x: f32[1, s0, 8] = aten.embedding.default(weight=%embed, indices=%input_ids)
)" + norm("h", "x", "1, s0, 8", "n1") +
            R"(
%q: f32[1, s0, 12] = aten.linear.default(input=%h, weight=%wq)
%k: f32[1, s0, 6] = aten.linear.default(input=%h, weight=%wk)
%v: f32[1, s0, 6] = aten.linear.default(input=%h, weight=%wv)
%qv: f32[1, s0, 2, 6] = aten.view.default(self=%q, size=[1, s0, 2, 6])
%kv: f32[1, s0, 1, 6] = aten.view.default(self=%k, size=[1, s0, 1, 6])
%vv: f32[1, s0, 1, 6] = aten.view.default(self=%v, size=[1, s0, 1, 6])
)";
    text += headNorms ? norm("qn", "qv", "1, s0, 2, 6", "nq") + norm("kn", "kv", "1, s0, 1, 6", "nk")
                      : "%qn: f32[1, s0, 2, 6] = aten.alias.default(self=%qv)\n"
                        "%kn: f32[1, s0, 1, 6] = aten.alias.default(self=%kv)\n";
    return text + R"(
%qt: f32[1, 2, s0, 6] = aten.transpose.int(self=%qn, dim0=1, dim1=2)
%kt: f32[1, 1, s0, 6] = aten.transpose.int(self=%kn, dim0=1, dim1=2)
%vt: f32[1, 1, s0, 6] = aten.transpose.int(self=%vv, dim0=1, dim1=2)
%exponents: f32[3] = aten.arange.start_step(start=0.0, end=3.0, step=1.0)
%powers: f32[3] = aten.mul.Tensor(self=%exponents, other=-0.33333334)
%frequencies: f32[3] = aten.pow.Scalar(self=100.0, exponent=%powers)
%at: f32[1, s0] = aten.mul.Tensor(self=%position_ids, other=1.0)
%column: f32[1, s0, 1] = aten.unsqueeze.default(self=%at, dim=2)
%angles: f32[1, s0, 3] = aten.mul.Tensor(self=%column, other=%frequencies)
%wide: f32[1, s0, 6] = aten.cat.default(tensors=[%angles, %angles], dim=-1)
%cos: f32[1, s0, 6] = aten.cos.default(self=%wide)
%sin: f32[1, s0, 6] = aten.sin.default(self=%wide)
%qr: f32[1, 2, s0, 6], %kr: f32[1, 1, s0, 6] = workbench.rope(query=%qt, key=%kt, cos=%cos, sin=%sin, style="half")
%attended: f32[1, s0, 2, 6] = workbench.attention(query=%qr, key=%kr, value=%vt, positions=%position_ids, layer=0, scale=0.4082482904638631, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none)
%flat: f32[1, s0, 12] = aten.view.default(self=%attended, size=[1, s0, 12])
%o: f32[1, s0, 8] = aten.linear.default(input=%flat, weight=%wo)
%y: f32[1, s0, 8] = aten.add.Tensor(self=%x, other=%o)
)" + norm("hy", "y", "1, s0, 8", "n2") +
           R"(
%g: f32[1, s0, 12] = aten.linear.default(input=%hy, weight=%wg)
%u: f32[1, s0, 12] = aten.linear.default(input=%hy, weight=%wu)
%a: f32[1, s0, 12] = aten.silu.default(self=%g)
%m: f32[1, s0, 12] = aten.mul.Tensor(self=%a, other=%u)
%d: f32[1, s0, 8] = aten.linear.default(input=%m, weight=%wd)
%z: f32[1, s0, 8] = aten.add.Tensor(self=%y, other=%d)
)" + norm("hz", "z", "1, s0, 8", "n3") +
           R"(
%kept: f32[1, s1, 8] = aten.index.Tensor(self=%hz, indices=[none, %logits_to_keep])
%logits: f32[1, s1, 20] = aten.linear.default(input=%kept, weight=%head)
output %logits
)";
}

struct Both {
    std::unique_ptr<LanguageModel> model;
    std::unique_ptr<ProgramRunner> program;
    std::unique_ptr<native::NativeRunner> native;
};

Both bothOf(bool headNorms) {
    RandomTensors weights;
    Both both;
    auto graph = parseGraph(graphText(headNorms));
    EXPECT_TRUE(graph) << graph.error().message;
    auto program = Program::create(std::move(*graph), weights);
    EXPECT_TRUE(program) << program.error().message;
    both.model = std::make_unique<LanguageModel>(LanguageModel::create(std::move(*program)).value());
    const PagedKvOptions options{.blockTokens = 4, .bytes = 100'000};
    both.program = ProgramRunner::create(*both.model, options).value();
    auto decoder =
        native::makeDecoder(configOf(headNorms ? "Qwen3ForCausalLM" : "LlamaForCausalLM"), ScalarType::f32,
                            {"model.embed_tokens.weight", "lm_head.weight"}, weights);
    EXPECT_TRUE(decoder) << decoder.error().message;
    both.native = native::NativeRunner::create(*decoder, options).value();
    return both;
}

TEST(Decoder, ComputesWhatTheModelsGraphDoes) {
    for (const bool headNorms : {false, true}) {
        const Both both = bothOf(headNorms);
        const auto found = benchmark::compareModels(*both.program, *both.native, both.native->layout());
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_LT(found->relativeError, 1e-5) << "head norms " << headNorms;
        EXPECT_EQ(found->equal, found->tokens);
    }
}

TEST(Decoder, KeepsSequencesApartAndPicksTheWantedRows) {
    const Both both = bothOf(true);
    const std::vector<std::vector<BlockId>> first{{5, 2}};
    const std::vector<std::vector<BlockId>> second{{7}};
    StepPlan plan{{3, 1, 4, 1, 5, 9, 2, 6}, {0, 1, 2, 3, 4, 0, 1, 2}, {}, {7, 4}};
    plan.sequences = {
        {.id = 1, .firstToken = 0, .tokens = 5, .firstPosition = 0, .row = 1, .tables = first},
        {.id = 2, .firstToken = 5, .tokens = 3, .firstPosition = 0, .row = 0, .tables = second}};
    const std::atomic<bool> abort = false;
    const auto expected = both.program->run(plan, abort);
    const auto found = both.native->run(plan, abort);
    ASSERT_TRUE(expected && found);
    ASSERT_EQ(found->size(), 40u);
    for (std::size_t i = 0; i < found->size(); ++i)
        EXPECT_NEAR((*found)[i], (*expected)[i], 1e-5) << i;
}

TEST(Decoder, StopsWhenItIsAborted) {
    const Both both = bothOf(false);
    const std::vector<std::vector<BlockId>> tables{{0}};
    StepPlan plan{{3}, {0}, {}, {0}};
    plan.sequences = {{.id = 1, .tokens = 1, .row = 0, .tables = tables}};
    const auto stopped = both.native->run(plan, true);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

} // namespace
} // namespace workbench::test
