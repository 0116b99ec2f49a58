#include "runtime/program/random_weights.h"
#include "runtime/program/weight_store.h"
#include "tests/runtime/program/support.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>

namespace workbench::test {
namespace {

Graph graphOf(const std::string& text) {
    auto graph = parseGraph(text);
    EXPECT_TRUE(graph) << graph.error().message << "\n" << text;
    return graph ? std::move(*graph) : Graph();
}

std::shared_ptr<WeightStore> int8Store() {
    auto store = WeightStore::open({.seed = 1, .format = ops::WeightFormat::int8});
    EXPECT_TRUE(store);
    return *store;
}

ProductWeights countsOf(const std::string& text) {
    return int8Store()->productWeights(graphOf(text));
}

constexpr const char* kMatrix = "parameter %w: f32[8, 8] \"w\"\n";
constexpr const char* kLinear = "%y: f32[s0, 8] = aten.linear.default(input=%x, weight=%w)\n";

/// `nodes` make %y of %x with the weight %w; a product that is quantised follows.
std::string model(const std::string& nodes, const std::string& weight = kMatrix) {
    return "input %x: f32[s0, 8]\nparameter %v: f32[8, 8] \"v\"\n" + weight + nodes +
           "%z: f32[s0, 8] = aten.linear.default(input=%y, weight=%v)\noutput %z\n";
}

TEST(ProductWeights, AreQuantisedWhereALinearReadsThem) {
    const ProductWeights counts = countsOf(model(kLinear));
    EXPECT_EQ(counts.quantised.matrices, 2);
    EXPECT_EQ(counts.quantised.bytes, 2 * 8 * (8 + 4));
    EXPECT_EQ(counts.stored.matrices + counts.precise.matrices, 0);
}

struct Spelling {
    const char* name;
    const char* weight;
    const char* nodes;
    std::int64_t bytes = 8 * 8 * 4;
};

const Spelling kSpellings[] = {
    {"Conv1D", "parameter %b: f32[8] \"b\"\nparameter %w: f32[8, 8] \"w\"\n",
     "%y: f32[s0, 8] = aten.addmm.default(self=%b, mat1=%x, mat2=%w)\n"},
    {"Mm", kMatrix, "%y: f32[s0, 8] = aten.mm.default(self=%x, mat2=%w)\n"},
    {"Transposed", kMatrix,
     "%t: f32[8, 8] = aten.t.default(self=%w)\n"
     "%y: f32[s0, 8] = aten.matmul.default(self=%x, other=%t)\n"},
    {"AnotherUse", kMatrix,
     "%u: f32[s0, 8] = aten.linear.default(input=%x, weight=%w)\n"
     "%m: f32[8] = aten.sum.dim_IntList(self=%w, dim=[0])\n"
     "%y: f32[s0, 8] = aten.add.Tensor(self=%u, other=%m)\n"},
    {"Buffer", "buffer %w: f32[8, 8] \"w\"\n", kLinear},
    {"Float16", "parameter %w: f16[8, 8] \"w\"\n",
     "%h: f16[s0, 8] = aten._to_copy.default(self=%x, dtype=dtype:f16)\n"
     "%g: f16[s0, 8] = aten.linear.default(input=%h, weight=%w)\n"
     "%y: f32[s0, 8] = aten._to_copy.default(self=%g, dtype=dtype:f32)\n",
     8 * 8 * 2},
    {"AllExperts", "parameter %w: f32[3, 8, 8] \"w\"\n",
     "%e: f32[1, s0, 8] = aten.unsqueeze.default(self=%x, dim=0)\n"
     "%r: f32[3, s0, 8] = aten.expand.default(self=%e, size=[3, s0, 8])\n"
     "%a: f32[3, s0, 8] = aten.bmm.default(self=%r, mat2=%w)\n"
     "%y: f32[s0, 8] = aten.sum.dim_IntList(self=%a, dim=[0])\n",
     3 * 8 * 8 * 4},
};

class StoredProductWeights : public testing::TestWithParam<Spelling> {};

TEST_P(StoredProductWeights, AreCounted) {
    const ProductWeights counts = countsOf(model(GetParam().nodes, GetParam().weight));
    EXPECT_EQ(counts.stored.matrices, 1);
    EXPECT_EQ(counts.stored.bytes, GetParam().bytes);
    EXPECT_EQ(counts.quantised.matrices, 1);
    EXPECT_EQ(counts.precise.matrices, 0);
}

INSTANTIATE_TEST_SUITE_P(All, StoredProductWeights, testing::ValuesIn(kSpellings),
                         [](const auto& info) { return info.param.name; });

TEST(ProductWeights, AreNoTablesVectorsOrWeightsThatNobodyReads) {
    const ProductWeights counts = countsOf(R"(input %ids: i64[s0]
parameter %table: f32[20, 8] "table"
parameter %unread: f32[8, 8] "unread"
parameter %v: f32[8, 8] "v"
buffer %frequencies: f32[4] "inv_freq"
%x: f32[s0, 8] = aten.embedding.default(weight=%table, indices=%ids)
%dead: f32[s0, 8] = aten.mm.default(self=%x, mat2=%unread)
%z: f32[s0, 8] = aten.linear.default(input=%x, weight=%v)
%row: f32[1, 4] = aten.unsqueeze.default(self=%frequencies, dim=0)
%cut: f32[s0, 4] = aten.slice.Tensor(self=%z, dim=1, start=0, end=4, step=1)
%column: f32[4, 1] = aten.reshape.default(self=%row, shape=[4, 1])
%angle: f32[s0, 1] = aten.mm.default(self=%cut, mat2=%column)
output %z, %angle
)");
    EXPECT_EQ(counts.quantised.matrices, 1);
    EXPECT_EQ(counts.stored.matrices + counts.precise.matrices, 0);
}

TEST(ProductWeights, OfFloat32AmongBfloat16StayAsTheyAre) {
    const std::string text = R"(input %x: bf16[s0, 8]
parameter %v: bf16[8, 8] "v"
parameter %w: f32[8, 8] "w"
%y: bf16[s0, 8] = aten.linear.default(input=%x, weight=%v)
%wide: f32[s0, 8] = aten._to_copy.default(self=%y, dtype=dtype:f32)
%z: f32[s0, 8] = aten.linear.default(input=%wide, weight=%w)
output %z
)";
    const ProductWeights counts = countsOf(text);
    EXPECT_EQ(counts.quantised.matrices, 1);
    EXPECT_EQ(counts.precise.matrices, 1);
    EXPECT_EQ(counts.precise.bytes, 8 * 8 * 4);
    EXPECT_EQ(counts.stored.matrices, 0);
    EXPECT_EQ(int8Store()->missingBytes(graphOf(text)), 8 * (8 + 4) + 8 * 8 * 4);
}

/// How logits become chosen experts.
const std::pair<const char*, const char*> kRouters[] = {
    {"SoftmaxThenTopK", "%s: f32[s0, 6] = aten._softmax.default(self=%logits, dim=-1, half_to_float=false)\n"
                        "%w: f32[s0, 2], %i: i64[s0, 2] = aten.topk.default(self=%s, k=2)\n"},
    {"TopKThenSoftmax", "%t: f32[s0, 2], %i: i64[s0, 2] = aten.topk.default(self=%logits, k=2)\n"
                        "%w: f32[s0, 2] = aten._softmax.default(self=%t, dim=-1, half_to_float=false)\n"},
    {"SigmoidWithABias", "%s: f32[s0, 6] = aten.sigmoid.default(self=%logits)\n"
                         "%b: f32[s0, 6] = aten.add.Tensor(self=%s, other=%bias)\n"
                         "%w: f32[s0, 2], %i: i64[s0, 2] = aten.topk.default(self=%b, k=2)\n"},
    {"Fused", "%w: f32[s0, 2], %i: i64[s0, 2] = workbench.moe_route(logits=%logits, top_k=2, "
              "order=\"softmax_first\", renormalize=true, sorted=true, dtype=dtype:f32)\n"},
};

class Routers : public testing::TestWithParam<std::pair<const char*, const char*>> {
protected:
    /// A product, whose weight is quantised, and a router behind it.
    std::string text() const {
        return "input %x: f32[s0, 8]\nparameter %v: f32[8, 8] \"v\"\nparameter %router: f32[6, 8] "
               "\"router\"\nparameter %bias: f32[6] \"bias\"\n"
               "%y: f32[s0, 8] = aten.linear.default(input=%x, weight=%v)\n"
               "%logits: f32[s0, 6] = aten.linear.default(input=%x, weight=%router)\n" +
               std::string(GetParam().second) + "output %y, %logits, %w\n";
    }
};

TEST_P(Routers, AreCountedAsLeftOnPurpose) {
    const ProductWeights counts = countsOf(text());
    EXPECT_EQ(counts.quantised.matrices, 1);
    EXPECT_EQ(counts.precise.matrices, 1);
    EXPECT_EQ(counts.precise.bytes, 6 * 8 * 4);
    EXPECT_EQ(counts.stored.matrices, 0);
}

TEST_P(Routers, ComputeWithTheWeightsAsTheyAreStored) {
    const auto store = int8Store();
    auto program = Program::create(graphOf(text()), *store);
    ASSERT_TRUE(program) << program.error().message;
    const at::Tensor x = at::randn({5, 8});
    const auto outputs = program->run(std::vector<at::Tensor>{x});
    ASSERT_TRUE(outputs) << outputs.error().message;
    const auto apart = [&](std::size_t output, const char* name, std::int64_t rows) {
        const at::Tensor exact = at::linear(x, randomWeight(1, name, {rows, 8}));
        return outputs->at(output).sub(exact).abs().max().item<float>();
    };
    EXPECT_GT(apart(0, "v", 8), 1e-4f);
    EXPECT_LT(apart(1, "router", 6), 1e-5f);
}

INSTANTIATE_TEST_SUITE_P(All, Routers, testing::ValuesIn(kRouters),
                         [](const auto& info) { return info.param.first; });

TEST(ProductWeights, OfARouterThatIsWidenedFirstAreLeftOnPurpose) {
    const ProductWeights counts = countsOf(R"(input %x: bf16[s0, 8]
parameter %v: bf16[8, 8] "v"
parameter %router: bf16[6, 8] "router"
%y: bf16[s0, 8] = aten.linear.default(input=%x, weight=%v)
%wide: f32[s0, 8] = aten._to_copy.default(self=%y, dtype=dtype:f32)
%weight: f32[6, 8] = aten._to_copy.default(self=%router, dtype=dtype:f32)
%logits: f32[s0, 6] = aten.linear.default(input=%wide, weight=%weight)
%w: f32[s0, 2], %i: i64[s0, 2] = aten.topk.default(self=%logits, k=2)
output %w
)");
    EXPECT_EQ(counts.quantised.matrices, 1);
    EXPECT_EQ(counts.precise.matrices, 1);
    EXPECT_EQ(counts.stored.matrices, 0);
}

} // namespace
} // namespace workbench::test
