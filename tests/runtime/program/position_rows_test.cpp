#include "runtime/program/position_rows.h"
#include "tests/runtime/program/support.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace workbench::test {
namespace {

/// Rotary embedding of one head behind a norm, as the tracer leaves it; `angles` makes %angles from %table
/// and %position_ids.
std::string rotary(const std::string& angles) {
    return R"(
input %x: f32[1, s0, 16]
input %position_ids: i64[1, s0]
parameter %table: f32[1, 1, 8] "table"
)" + angles +
           R"(
%both: f32[1, s0, 16] = aten.cat.default(tensors=[%angles, %angles], dim=2)
%cos: f32[1, s0, 16] = aten.cos.default(self=%both)
%sin: f32[1, s0, 16] = aten.sin.default(self=%both)
%n: f32[1, s0, 16] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%heads: f32[1, s0, 1, 16] = aten.view.default(self=%n, size=[1, s0, 1, 16])
%q: f32[1, 1, s0, 16] = aten.transpose.int(self=%heads, dim0=1, dim1=2)
%a: f32[1, 1, s0, 16], %b: f32[1, 1, s0, 16] = workbench.rope(query=%q, key=%q, cos=%cos, sin=%sin, style="half")
output %a, %b
)";
}

const std::string kAngles = R"(
%column: i64[1, s0, 1] = aten.unsqueeze.default(self=%position_ids, dim=2)
%real: f32[1, s0, 1] = aten._to_copy.default(self=%column, dtype=dtype:f32)
%angles: f32[1, s0, 8] = aten.mul.Tensor(self=%table, other=%real)
)";

at::Tensor table() {
    return at::pow(10000.0, at::arange(8, at::kFloat).mul(-0.125)).reshape({1, 1, 8});
}

std::unique_ptr<Program> rotaryProgram(const std::string& angles = kAngles) {
    return compile(rotary(angles), {{"table", table()}});
}

/// With an observer every node runs.
std::vector<at::Tensor> nodeByNode(Program& program, const std::vector<at::Tensor>& inputs) {
    RunOptions options;
    options.observe = [](ValueId, const at::Tensor&) -> Status { return Ok{}; };
    auto outputs = program.run(inputs, options);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return *outputs;
}

at::Tensor input(std::int64_t tokens) {
    return at::arange(tokens * 16, at::kFloat).sin().reshape({1, tokens, 16});
}

std::vector<ValueId> rowsOf(const Program& program, std::vector<BoundNode>& nodes) {
    SymTable symbols;
    for (std::size_t i = 0; i < program.graph().nodes.size(); ++i)
        nodes.push_back(*bindNode(program.graph(), static_cast<NodeId>(i), symbols));
    return planPositions(program.graph(), nodes, [&](ValueId id) { return program.constant(id) != nullptr; })
        .rows;
}

TEST(PositionRows, AreTheValuesThatOtherNodesReadOfWhatPositionsAloneMake) {
    const auto program = rotaryProgram();
    std::vector<BoundNode> nodes;
    std::vector<std::string> names;
    for (const ValueId id : rowsOf(*program, nodes))
        names.push_back(program->graph().value(id).name);
    EXPECT_EQ(names, (std::vector<std::string>{"cos", "sin"}));
}

TEST(PositionRows, GiveWhatTheNodesGiveForAnyPositionsInAnyOrder) {
    auto program = rotaryProgram();
    const std::vector<std::vector<std::int64_t>> steps{{0, 1, 2}, {3, 4, 5},     {7, 0, 255},    {256, 3, 3},
                                                       {9, 8, 7}, {5000, 1, 12}, {0, 70000, 12}, {1, 2, 3}};
    for (const std::vector<std::int64_t>& positions : steps) {
        const std::vector<at::Tensor> inputs{input(3), longs(positions, {1, 3})};
        const auto outputs = program->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        const auto expected = nodeByNode(*program, inputs);
        for (std::size_t i = 0; i < expected.size(); ++i)
            // cosines of one argument may differ in the last place between vector and scalar code
            EXPECT_TRUE(at::allclose(outputs->at(i), expected[i], 1e-6, 1e-6)) << positions[1];
    }
}

TEST(PositionRows, OfAPositionBelowZeroAreComputedByTheNodes) {
    auto program = rotaryProgram();
    const std::vector<at::Tensor> inputs{input(2), longs({-3, 4}, {1, 2})};
    for (int run = 0; run < 3; ++run) {
        const auto outputs = program->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        EXPECT_TRUE(at::allclose(outputs->at(0), nodeByNode(*program, inputs)[0], 1e-6, 1e-6));
    }
}

TEST(PositionRows, AreNoneWhereOneTokenSeesThePositionOfAnother) {
    const std::string traps[] = {
        R"(
%column: i64[1, s0, 1] = aten.unsqueeze.default(self=%position_ids, dim=2)
%real: f32[1, s0, 1] = aten._to_copy.default(self=%column, dtype=dtype:f32)
%most: f32[1, 1, 1] = aten.amax.default(self=%real, dim=[1], keepdim=true)
%scaled: f32[1, s0, 1] = aten.div.Tensor(self=%real, other=%most)
%angles: f32[1, s0, 8] = aten.mul.Tensor(self=%table, other=%scaled)
)",
        R"(
%column: i64[1, s0, 1] = aten.unsqueeze.default(self=%position_ids, dim=2)
%real: f32[1, s0, 1] = aten._to_copy.default(self=%column, dtype=dtype:f32)
%turned: f32[1, s0, 1] = aten.flip.default(self=%real, dims=[1])
%angles: f32[1, s0, 8] = aten.mul.Tensor(self=%table, other=%turned)
)",
        R"(
%column: i64[1, s0, 1] = aten.unsqueeze.default(self=%position_ids, dim=2)
%real: f32[1, s0, 1] = aten._to_copy.default(self=%column, dtype=dtype:f32)
%sums: f32[1, s0, 1] = aten.cumsum.default(self=%real, dim=1)
%angles: f32[1, s0, 8] = aten.mul.Tensor(self=%table, other=%sums)
)"};
    for (const std::string& trap : traps) {
        auto program = rotaryProgram(trap);
        ASSERT_NE(program, nullptr) << trap;
        for (const std::vector<std::int64_t>& positions :
             {std::vector<std::int64_t>{5, 6}, {5, 6}, {6, 5}, {1, 40}, {40, 1}}) {
            const std::vector<at::Tensor> inputs{input(2), longs(positions, {1, 2})};
            const auto outputs = program->run(inputs);
            ASSERT_TRUE(outputs) << outputs.error().message;
            EXPECT_TRUE(at::allclose(outputs->at(0), nodeByNode(*program, inputs)[0], 1e-6, 1e-6)) << trap;
        }
    }
}

TEST(PositionRows, AreNoneOfWhatAnInputOtherThanPositionsMakes) {
    const auto program = rotaryProgram(R"(
%shifted: f32[1, s0, 8], %rest: f32[1, s0, 8] = aten.split_with_sizes.default(self=%x, split_sizes=[8, 8], dim=2)
%column: i64[1, s0, 1] = aten.unsqueeze.default(self=%position_ids, dim=2)
%real: f32[1, s0, 1] = aten._to_copy.default(self=%column, dtype=dtype:f32)
%angles: f32[1, s0, 8] = aten.mul.Tensor(self=%shifted, other=%real)
)");
    std::vector<BoundNode> nodes;
    std::vector<std::string> names;
    for (const ValueId id : rowsOf(*program, nodes))
        names.push_back(program->graph().value(id).name);
    EXPECT_EQ(names, std::vector<std::string>{"real"});
}

} // namespace
} // namespace workbench::test
