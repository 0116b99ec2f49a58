#include "runtime/program/run_frames.h"
#include "tests/runtime/program/support.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <atomic>
#include <random>

/// Expected values are those of the same program with an observer: then every value is a new tensor.

namespace workbench::test {
namespace {

std::vector<at::Tensor> freshly(Program& program, const at::Tensor& input) {
    RunOptions options;
    options.observe = [](ValueId, const at::Tensor&) -> Status { return Ok{}; };
    auto outputs = program.run(std::vector{input}, options);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return *outputs;
}

std::vector<at::Tensor> ran(Program& program, const at::Tensor& input) {
    auto outputs = program.run(std::vector{input});
    EXPECT_TRUE(outputs) << outputs.error().message;
    return *outputs;
}

void expectEqual(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(at::equal(found[i], expected[i])) << "output " << i;
}

at::Tensor randomInput(std::int64_t tokens, std::uint64_t seed) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::normal_distribution<float> normal;
    std::vector<float> numbers(static_cast<std::size_t>(tokens) * 12);
    for (float& number : numbers)
        number = normal(random);
    return floats(numbers, {1, tokens, 12});
}

const std::string kNorms = R"(
input %x: f32[1, s0, 12]
%a: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%b: f32[1, s0, 12], %s: f32[1, s0, 12] = workbench.add_rms_norm(input=%a, residual=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%p: f32[1, s0, 4], %q: f32[1, s0, 8] = aten.split_with_sizes.default(self=%b, split_sizes=[4, 8], dim=-1)
%h: f32[1, s0, 2, 4] = aten.reshape.default(self=%q, shape=[1, s0, 2, 4])
%t: f32[1, 2, s0, 4] = aten.transpose.int(self=%h, dim0=1, dim1=2)
%c: f32[1, 2, s0, 4] = workbench.rms_norm(input=%t, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%d: f32[1, s0, 12] = workbench.rms_norm(input=%s, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%n: f32[1, 2, s0, 4] = workbench.rms_norm(input=%c, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %n, %d
)";

TEST(RunFrames, RunsOfEverySizeGiveTheSameBitsHoweverOftenTheSizesCome) {
    auto program = compile(kNorms);
    std::mt19937 random(3);
    for (std::uint64_t run = 0; run < 200; ++run) {
        const at::Tensor input = randomInput(1 + static_cast<std::int64_t>(random() % 50), run);
        expectEqual(ran(*program, input), freshly(*program, input));
    }
}

TEST(RunFrames, WhatARunReturnedStaysAsItWasInTheNext) {
    auto program = compile(kNorms);
    std::vector<std::vector<at::Tensor>> returned;
    for (std::uint64_t run = 0; run < 5; ++run)
        returned.push_back(ran(*program, randomInput(6, run)));
    for (std::uint64_t run = 0; run < 5; ++run)
        expectEqual(returned[run], freshly(*program, randomInput(6, run)));
}

TEST(RunFrames, AViewThatLeavesTheProgramStaysAsItWasInTheNext) {
    auto program = compile(R"(
input %x: f32[1, s0, 12]
%a: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%p: f32[1, s0, 4], %q: f32[1, s0, 8] = aten.split_with_sizes.default(self=%a, split_sizes=[4, 8], dim=-1)
output %q
)");
    std::vector<at::Tensor> returned;
    for (std::uint64_t run = 0; run < 4; ++run)
        returned.push_back(ran(*program, randomInput(3, run)).at(0));
    for (std::uint64_t run = 0; run < 4; ++run)
        EXPECT_TRUE(at::equal(returned[run], freshly(*program, randomInput(3, run)).at(0))) << run;
}

TEST(RunFrames, AValueOutlivesItsMemoryInNoOperatorThatReturnsItsArgument) {
    // The slice is %a itself, and the norms after it want memory for themselves.
    auto program = compile(R"(
input %x: f32[1, s0, 12]
%a: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%v: f32[1, s0, 12] = aten.slice.Tensor(self=%a, dim=1, start=0, end=9223372036854775807, step=1)
%b: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=none, eps=1.0, weight_offset=0.0, cast="before_weight")
%c: f32[1, s0, 12] = workbench.rms_norm(input=%b, weight=none, eps=1.0, weight_offset=0.0, cast="before_weight")
%d: f32[1, s0, 12] = workbench.rms_norm(input=%c, weight=none, eps=1.0, weight_offset=0.0, cast="before_weight")
%e: f32[1, s0, 12], %s: f32[1, s0, 12] = workbench.add_rms_norm(input=%d, residual=%v, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %e, %s
)");
    for (std::uint64_t run = 0; run < 4; ++run)
        expectEqual(ran(*program, randomInput(4, run)), freshly(*program, randomInput(4, run)));
}

TEST(RunFrames, AReshapeThatCopiesIsMadeByEveryRun) {
    auto program = compile(R"(
input %x: f32[1, s0, 12]
%a: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%t: f32[1, 12, s0] = aten.transpose.int(self=%a, dim0=1, dim1=2)
%r: f32[1, s0, 12] = aten.reshape.default(self=%t, shape=[1, s0, 12])
%b: f32[1, s0, 12] = workbench.rms_norm(input=%r, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %b
)");
    for (std::uint64_t run = 0; run < 6; ++run) { // one token: then it is a view
        const at::Tensor input = randomInput(run < 3 ? 1 : 7, run);
        expectEqual(ran(*program, input), freshly(*program, input));
    }
}

TEST(RunFrames, ACancelledRunLeavesNothingBehind) {
    auto program = compile(kNorms);
    const at::Tensor input = randomInput(5, 1);
    for (int run = 0; run < 3; ++run)
        ran(*program, input);
    const std::atomic<bool> cancel = true;
    RunOptions options;
    options.cancel = &cancel;
    const auto outputs = program->run(std::vector{input}, options);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::cancelled);
    for (int run = 0; run < 3; ++run)
        expectEqual(ran(*program, input), freshly(*program, input));
}

TEST(RunFrames, ARunReleasesItsInputsAndOutputs) {
    auto program = compile(kNorms);
    for (int run = 0; run < 4; ++run) {
        const at::Tensor input = randomInput(5, 1);
        const auto outputs = ran(*program, input);
        EXPECT_EQ(input.use_count(), 1U) << run;
        for (const at::Tensor& output : outputs)
            EXPECT_EQ(output.use_count(), 1U) << run;
    }
}

/// A program of random operators over values [1, s0, width], some of which return their argument's memory.
std::string randomProgram(std::mt19937& random) {
    const std::string kNorm = R"(eps=1e-05, weight_offset=0.0, cast="before_weight")";
    const auto typed = [](int id, int width) {
        return "%v" + std::to_string(id) + ": f32[1, s0, " + std::to_string(width) + "]";
    };
    struct Value {
        int id;
        int width;
    };
    std::vector<Value> values{{0, 12}};
    const auto pick = [&](int width) {
        std::vector<int> ids;
        for (const Value& value : values)
            if (value.width == width)
                ids.push_back(value.id);
        return ids.empty() ? std::string() : "%v" + std::to_string(ids[random() % ids.size()]);
    };
    std::string text = "input %v0: f32[1, s0, 12]\n";
    int next = 1;
    while (next < 60) {
        const int width = values[random() % values.size()].width;
        const std::string a = pick(width);
        const std::string b = pick(width);
        switch (random() % 8) {
        case 0:
        case 1:
            text +=
                typed(next, width) + " = workbench.rms_norm(input=" + a + ", weight=none, " + kNorm + ")\n";
            values.push_back({next++, width});
            break;
        case 2:
        case 3:
            text += typed(next, width) + ", " + typed(next + 1, width) +
                    " = workbench.add_rms_norm(input=" + a + ", residual=" + b + ", weight=none, " + kNorm +
                    ")\n";
            values.push_back({next++, width});
            values.push_back({next++, width});
            break;
        case 4:
            text += typed(next, 2 * width) + " = aten.cat.default(tensors=[" + a + ", " + b + "], dim=-1)\n";
            text += typed(next + 1, width) + " = workbench.act_and_mul(gate_up=%v" + std::to_string(next) +
                    ", activation=\"silu\")\n";
            values.push_back({next + 1, width});
            next += 2;
            break;
        case 5:
            if (width != 12)
                break;
            text += typed(next, 4) + ", " + typed(next + 1, 8) +
                    " = aten.split_with_sizes.default(self=" + a + ", split_sizes=[4, 8], dim=-1)\n";
            values.push_back({next++, 4});
            values.push_back({next++, 8});
            break;
        case 6:
            text += typed(next, width) + " = aten.slice.Tensor(self=" + a +
                    ", dim=1, start=0, end=9223372036854775807, step=1)\n";
            values.push_back({next++, width});
            break;
        default:
            text += typed(next, width) + " = aten.add.Tensor(self=" + a + ", other=" + b + ", alpha=1)\n";
            values.push_back({next++, width});
        }
    }
    std::shuffle(values.begin(), values.end(), random);
    text += "output ";
    for (std::size_t i = 0; i < 4; ++i)
        text += (i ? ", %v" : "%v") + std::to_string(values[i].id);
    return text + "\n";
}

TEST(RunFrames, RandomProgramsGiveTheSameBitsWithAndWithoutThem) {
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        const std::string text = randomProgram(random);
        auto program = compile(text);
        ASSERT_NE(program, nullptr) << text;
        std::vector<std::vector<at::Tensor>> returned;
        for (std::uint64_t run = 0; run < 8; ++run)
            returned.push_back(ran(*program, randomInput(1 + static_cast<std::int64_t>(run % 2), run)));
        for (std::uint64_t run = 0; run < 8; ++run)
            expectEqual(returned[run],
                        freshly(*program, randomInput(1 + static_cast<std::int64_t>(run % 2), run)));
        ASSERT_FALSE(HasFailure()) << text;
    }
}

/// The plan of a program whose calls are made by hand: what of it is measured here needs no operator.
TEST(FramePlan, HoldsWhatDirectCallsAloneRead) {
    auto graph = parseGraph(kNorms);
    ASSERT_TRUE(graph) << graph.error().message;
    SymTable symbols;
    std::vector<BoundNode> nodes;
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
        auto bound = bindNode(*graph, static_cast<NodeId>(i), symbols);
        ASSERT_TRUE(bound) << bound.error().message;
        bound->direct.call = [](auto&, const auto&, const auto&) {};
        const bool view = graph->nodes[i].op.starts_with("aten.");
        bound->direct.memory = view ? DirectCall::Memory::shared : DirectCall::Memory::given;
        nodes.push_back(std::move(*bound));
    }
    const FramePlan plan = planFrame(*graph, nodes, {"s0"});
    std::vector<std::string> roots;
    for (const FramePlan::Root& root : plan.roots)
        roots.push_back(graph->value(root.value).name);
    EXPECT_EQ(roots, (std::vector<std::string>{"a", "b", "s", "c"})); // n and d leave the program
    EXPECT_EQ(plan.views.size(), 3U);
    EXPECT_EQ(plan.steps.size(), 5U);
    EXPECT_EQ(plan.roots[1].last, 5); // read through split, view and transpose by the norm that makes c
    EXPECT_TRUE(planFrame(*graph, nodes, {}).roots.empty()) << "s0 is not known";
    nodes[5].direct = {}; // the norm that makes c: another operator now, that may return its argument
    const FramePlan less = planFrame(*graph, nodes, {"s0"});
    for (const FramePlan::Root& root : less.roots)
        EXPECT_NE(graph->value(root.value).name, "b");
}

} // namespace
} // namespace workbench::test
