#include "tests/runtime/program/support.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>

namespace workbench::test {
namespace {

using testing::Test;

std::vector<float> runOn(Program& program, const std::vector<at::Tensor>& inputs) {
    auto outputs = program.run(inputs);
    if (!outputs) {
        ADD_FAILURE() << outputs.error().message;
        return {};
    }
    return toVector(outputs->at(0));
}

std::string runError(Program& program, const std::vector<at::Tensor>& inputs) {
    const auto outputs = program.run(inputs);
    return outputs ? "" : outputs.error().message;
}

void expectContains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

const at::Tensor kTwoRows = floats({1, -2, 3, 4, 5, -6}, {2, 3});

TEST(Program, EqualsLibTorchCalledDirectly) {
    const at::Tensor weight = floats({1, 0, 2, -1, 1, 0.5f}, {2, 3});
    auto program = compile(R"(
input %x: f32[s0, 3]
parameter %w: f32[2, 3] "w"
%y: f32[s0, 2] = aten.linear.default(input=%x, weight=%w)
output %y
)",
                           {{"w", weight}});
    const auto outputs = program->run(std::vector{kTwoRows});
    ASSERT_TRUE(outputs);
    EXPECT_TRUE(at::equal(outputs->at(0), at::linear(kTwoRows, weight)));
}

/// An embedding, a product and what `extra` says about their weight %w.
std::string tiedText(const std::string& extra) {
    return R"(
input %ids: i64[s0]
parameter %w: f32[4, 3] "w"
parameter %b: f32[4] "b"
%h: f32[s0, 3] = aten.embedding.default(weight=%w, indices=%ids)
%y: f32[s0, 4] = aten.linear.default(input=%h, weight=%w, bias=%b)
)" + extra;
}

const at::Tensor kTied = floats({1, 2, 3, -1, 0, 1, 2, 2, 0, 0, -3, 1}, {4, 3});
const at::Tensor kBias = floats({0.5f, 0, 0, -1}, {4});

TEST(Program, KeepsAWeightOfProductsAndLookupsPackedOnly) {
    auto program = compile(tiedText("output %y\n"), {{"w", kTied}, {"b", kBias}});
    const ValueId weight = program->find("w");
    EXPECT_EQ(program->constant(weight), nullptr);
    EXPECT_TRUE(program->isHeld(weight));
    EXPECT_FALSE(program->isHeld(program->find("h")));
    EXPECT_EQ(program->parameterCount(), 16);
    EXPECT_EQ(program->parameterBytes(), 64);
    const at::Tensor hidden = kTied.index_select(0, longs({3, 1}, {2}));
    EXPECT_EQ(runOn(*program, {longs({3, 1}, {2})}), toVector(at::linear(hidden, kTied, kBias)));
    EXPECT_NE(runError(*program, {longs({4}, {1})}).find("index 4 is not one of the 4 rows"),
              std::string::npos);
}

TEST(Program, KeepsAWeightAsATensorWhereAnotherOperatorReadsIt) {
    auto program = compile(tiedText("%s: f32[] = aten.sum.default(self=%w)\n"
                                    "%z: f32[s0, 4] = aten.mul.Tensor(self=%y, other=%s)\noutput %z\n"),
                           {{"w", kTied}, {"b", kBias}});
    ASSERT_NE(program->constant(program->find("w")), nullptr);
    const at::Tensor hidden = kTied.index_select(0, longs({2}, {1}));
    EXPECT_EQ(runOn(*program, {longs({2}, {1})}),
              toVector(at::linear(hidden, kTied, kBias).mul(kTied.sum())));
}

TEST(Program, RunsAgainWithAnotherLength) {
    auto program = compile(R"(
input %x: f32[s0, 3]
%y: f32[3*s0] = aten.view.default(self=%x, size=[3*s0])
%z: f32[3*s0] = aten.mul.Tensor(self=%y, other=%y)
output %z
)");
    EXPECT_EQ(runOn(*program, {kTwoRows}), (std::vector<float>{1, 4, 9, 16, 25, 36}));
    EXPECT_EQ(runOn(*program, {floats({1, 2, 3}, {1, 3})}), (std::vector<float>{1, 4, 9}));
    EXPECT_EQ(runOn(*program, {kTwoRows}).size(), 6u);
}

TEST(Program, TakesNumbersWhereTheSchemaWantsATensor) {
    auto program = compile(R"(
input %x: bf16[s0]
%y: bf16[s0] = aten.mul.Tensor(self=%x, other=0.5)
%z: bf16[s0] = aten.add.Tensor(self=%y, other=s0)
output %z
)");
    const auto outputs = program->run(std::vector{floats({2, 4}, {2}).to(at::kBFloat16)});
    ASSERT_TRUE(outputs);
    // A wrapped number does not widen the tensor that it meets.
    EXPECT_EQ(outputs->at(0).scalar_type(), at::kBFloat16);
    EXPECT_EQ(toVector(outputs->at(0)), (std::vector<float>{3, 4}));
}

TEST(Program, TakesKeywordsAndDefaults) {
    auto program = compile(R"(
input %x: f32[s0]
%y: f64[s0] = aten._to_copy.default(self=%x, dtype=dtype:f64, layout=layout:strided, device=device:cuda)
%z: f64[s0] = aten.clone.default(self=%y, memory_format=memory_format:contiguous_format)
%s: f64[1] = aten.sum.dim_IntList(self=%z, dim=[0], keepdim=true)
%m: f64[1] = aten.sum.dim_IntList(self=%s, dim=0)
output %s, %m
)");
    const auto outputs = program->run(std::vector{floats({2, 4, 5}, {3})});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(outputs->at(0).scalar_type(), at::kDouble);
    EXPECT_EQ(outputs->at(0).dim(), 1);
    EXPECT_EQ(outputs->at(1).dim(), 0);   // keepdim's default
    EXPECT_TRUE(outputs->at(0).is_cpu()); // wherever it was traced
}

TEST(Program, TakesListsOfTensorsWithAndWithoutGaps) {
    auto program = compile(R"(
input %x: f32[s0, 3]
input %i: i64[2]
%both: f32[s0, 6] = aten.cat.default(tensors=[%x, %x], dim=1)
%picked: f32[s0, 2] = aten.index.Tensor(self=%both, indices=[none, %i])
output %picked
)");
    EXPECT_EQ(runOn(*program, {kTwoRows, longs({5, 0}, {2})}), (std::vector<float>{3, 1, -6, 4}));
}

TEST(Program, SpreadsListsAndTuplesOverTheNodesOutputs) {
    auto program = compile(R"(
input %x: f32[s0, 3]
%a: f32[s0, 1], %b: f32[s0, 2] = aten.split_with_sizes.default(self=%x, split_sizes=[1, 2], dim=1)
%top: f32[s0, 1], %where: i64[s0, 1] = aten.topk.default(self=%b, k=1)
%sum: f32[s0, 1] = aten.add.Tensor(self=%a, other=%top)
output %sum
)");
    EXPECT_EQ(runOn(*program, {kTwoRows}), (std::vector<float>{4, 9}));
}

TEST(Program, ComputesWhatNoInputChangesOnceAtLoad) {
    auto program = compile(R"(
input %x: f32[s0]
parameter %w: f32[1] "w"
%one: f32[1] = aten.add.Tensor(self=%w, other=1)
%y: f32[s0] = aten.mul.Tensor(self=%x, other=%one)
output %y
)",
                           {{"w", floats({2}, {1})}});
    ASSERT_NE(program->constant(program->find("one")), nullptr);
    EXPECT_EQ(toVector(*program->constant(program->find("one"))), std::vector<float>{3});
    EXPECT_EQ(program->constant(program->find("y")), nullptr);
    std::vector<std::string> made;
    RunOptions options;
    options.observe = [&](ValueId id, const at::Tensor&) -> Status {
        made.push_back(program->graph().value(id).name);
        return Ok{};
    };
    ASSERT_TRUE(program->run(std::vector{floats({1, 2}, {2})}, options));
    EXPECT_EQ(made, std::vector<std::string>{"y"});
}

TEST(Program, FreesEachValueAfterItsLastUse) {
    auto program = compile(R"(
input %x: f32[s0]
%a: f32[s0] = aten.neg.default(self=%x)
%b: f32[s0] = aten.mul.Tensor(self=%a, other=%a)
%unused: f32[s0], %index: i64[s0] = aten.sort.default(self=%b)
%c: f32[s0] = aten.add.Tensor(self=%b, other=%b)
%d: f32[s0] = aten.add.Tensor(self=%c, other=%index)
output %d
)");
    std::map<std::string, c10::weak_intrusive_ptr<at::TensorImpl>> seen;
    std::map<std::string, std::vector<std::string>> aliveAt;
    RunOptions options;
    options.observe = [&](ValueId id, const at::Tensor& tensor) -> Status {
        const std::string name = program->graph().value(id).name;
        for (const auto& [other, weak] : seen)
            if (!weak.expired())
                aliveAt[name].push_back(other);
        seen.emplace(name, c10::weak_intrusive_ptr<at::TensorImpl>(tensor.getIntrusivePtr()));
        return Ok{};
    };
    ASSERT_TRUE(program->run(std::vector{floats({1, 2}, {2})}, options));
    EXPECT_EQ(aliveAt["b"], std::vector<std::string>{});
    EXPECT_EQ(aliveAt["c"], std::vector<std::string>{"index"});
    EXPECT_EQ(aliveAt["d"], std::vector<std::string>{});
}

TEST(Program, GivesTheSameNumbersWhenRunTwice) {
    // A value that is output, input and constant at once must survive the first run.
    auto program = compile(R"(
input %x: f32[2]
parameter %w: f32[2] "w"
%y: f32[2] = aten.add.Tensor(self=%w, other=%x)
output %y, %w, %x
)",
                           {{"w", floats({10, 20}, {2})}});
    const std::vector inputs{floats({1, 2}, {2})};
    for (int time = 0; time < 2; ++time) {
        const auto outputs = program->run(inputs);
        ASSERT_TRUE(outputs);
        EXPECT_EQ(toVector(outputs->at(0)), (std::vector<float>{11, 22}));
        EXPECT_EQ(toVector(outputs->at(1)), (std::vector<float>{10, 20}));
        EXPECT_EQ(toVector(outputs->at(2)), (std::vector<float>{1, 2}));
    }
}

TEST(Program, StopsWhenCancelled) {
    auto program = compile("input %x: f32[2]\n%y: f32[2] = aten.neg.default(self=%x)\n%z: f32[2] = "
                           "aten.neg.default(self=%y)\noutput %z\n");
    std::atomic<bool> cancel = false;
    int made = 0;
    RunOptions options{.cancel = &cancel};
    options.observe = [&](ValueId, const at::Tensor&) -> Status {
        ++made;
        cancel = true;
        return Ok{};
    };
    const auto outputs = program->run(std::vector{floats({1, 2}, {2})}, options);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::cancelled);
    EXPECT_EQ(made, 1);
}

TEST(Program, NamesTheNodeThatCannotBeBound) {
    const std::string x = "module \"\" Model\nmodule \"mlp\" MLP\ninput %x: f32[s0, 3]\n";
    expectContains(
        compileError(x + "%y: f32[s0, 3] = aten.no_such_op.default(self=%x) @\"mlp\"\noutput %y\n"),
        "aten.no_such_op.default (%y in mlp) cannot be run");
    expectContains(compileError(x + "%y: f32[s0, 3] = aten.relu.default(self=%x, slope=1.0)\noutput %y\n"),
                   "argument 'slope'");
    expectContains(compileError(x + "%y: f32[3, s0] = aten.transpose.int(self=%x, dim0=0)\noutput %y\n"),
                   "lacks the argument 'dim1'");
    expectContains(
        compileError(x + "%y: f32[3, s0] = aten.transpose.int(self=%x, dim0=0, dim1=1.5)\noutput %y\n"),
        "argument 'dim1' should be of type int");
    expectContains(compileError(x + "%y: f32[s0, 3] = aten.relu.default(self=none)\noutput %y\n"),
                   "argument 'self' is none");
    expectContains(compileError(x + "%y: f32[s0, 3] = aten.relu_.default(self=%x)\noutput %y\n"), "in place");
    expectContains(
        compileError(x + "%y: f32[u7, 3] = aten.slice.Tensor(self=%x, dim=0, start=0, end=u7)\noutput %y\n"),
        "has the size u7, which no input's shape gives");
}

TEST(Program, NamesTheNodeThatFailsWhileRunning) {
    auto program = compile(R"(
input %x: f32[s0, 3]
input %i: i64[2]
%y: f32[s0, 2] = aten.index.Tensor(self=%x, indices=[none, %i])
output %y
)");
    const std::string message = runError(*program, {kTwoRows, longs({0, 3}, {2})});
    expectContains(message, "aten.index.Tensor (%y) failed: index 3 is out of bounds");
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(runOn(*program, {kTwoRows, longs({0, 1}, {2})}),
              (std::vector<float>{1, -2, 4, 5})); // and it runs again
}

TEST(Program, RefusesInputsThatDoNotFit) {
    auto program = compile("input %x: f32[s0, 3]\ninput %y: f32[s0]\n%z: f32[s0, 3] = "
                           "aten.neg.default(self=%x)\noutput %z, %y\n");
    expectContains(runError(*program, {kTwoRows}), "takes 2 inputs, not 1");
    expectContains(runError(*program, {kTwoRows, floats({1, 2, 3}, {3})}),
                   "Input y has shape [3], but dimension 0 must be s0 = 2");
    expectContains(runError(*program, {floats({1, 2}, {1, 2}), floats({1}, {1})}),
                   "dimension 1 must be 3 = 3");
    expectContains(runError(*program, {longs({1, 2, 3}, {1, 3}), floats({1}, {1})}),
                   "Input x must be a tensor of f32");
}

TEST(Program, RunsSomeNodesOnGivenValues) {
    auto program = compile(R"(
input %x: f32[s0]
parameter %w: f32[1] "w"
%a: f32[s0] = aten.neg.default(self=%x)
%b: f32[s0] = aten.mul.Tensor(self=%a, other=%w)
%c: f32[s0] = aten.add.Tensor(self=%b, other=%a)
output %c
)",
                           {{"w", floats({10}, {1})}});
    const std::vector inputs{floats({1, 2}, {2})};
    const at::Tensor other = floats({5, 6}, {2});
    const auto given = [&](const std::string& name) { return name == "a" ? &other : nullptr; };
    const auto results = program->runNodes(inputs, {1, 2}, given, {program->find("b"), program->find("c")});
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_EQ(toVector(results->at(0)), (std::vector<float>{50, 60}));
    EXPECT_EQ(toVector(results->at(1)), (std::vector<float>{55, 66}));

    const auto nothing = [](const std::string&) -> const at::Tensor* { return nullptr; };
    const auto missing = program->runNodes(inputs, {1}, nothing, {program->find("b")});
    ASSERT_FALSE(missing);
    expectContains(missing.error().message, "aten.mul.Tensor (%b) needs %a");
    // A value that was handed in would be compared with itself.
    const auto notMade = program->runNodes(inputs, {1}, given, {program->find("a")});
    ASSERT_FALSE(notMade);
    expectContains(notMade.error().message, "do not make %a");
}

TEST(Program, ListsTheShapesThatACacheNeeds) {
    auto program = compile(languageModelText("%mixed: f32[1, s0, 8] = aten.alias.default(self=%hidden)"));
    const auto shapes = program->attentionShapes();
    ASSERT_TRUE(shapes);
    ASSERT_EQ(shapes->size(), 1u);
    EXPECT_EQ(shapes->at(0).kvHeads, 2);
    EXPECT_EQ(shapes->at(0).width, 4);
}

} // namespace
} // namespace workbench::test
