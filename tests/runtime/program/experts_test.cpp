#include "tests/runtime/program/support.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

namespace workbench::test {
namespace {

constexpr const char* kHead = R"(
input %x: f32[s0, 6]
input %weights: f32[s0, 2]
input %chosen: i64[s0, 2]
parameter %gu: f32[3, 10, 6] "gate_up"
parameter %dn: f32[3, 6, 5] "down"
)";

/// As transformers' batched experts are traced.
std::string picked() {
    return kHead + std::string(R"(
%rep: f32[2*s0, 6] = aten.repeat_interleave.self_int(self=%x, repeats=2, dim=0)
%ids: i64[2*s0] = aten.reshape.default(self=%chosen, shape=[2*s0])
%pick: f32[2*s0, 10, 6] = aten.index.Tensor(self=%gu, indices=[%ids])
%col: f32[2*s0, 6, 1] = aten.unsqueeze.default(self=%rep, dim=-1)
%bmm: f32[2*s0, 10, 1] = aten.bmm.default(self=%pick, mat2=%col)
%both: f32[2*s0, 10] = aten.squeeze.dim(self=%bmm, dim=-1)
%gate: f32[2*s0, 5] = aten.slice.Tensor(self=%both, dim=1, start=0, end=5, step=1)
%up: f32[2*s0, 5] = aten.slice.Tensor(self=%both, dim=1, start=5, end=10, step=1)
%act: f32[2*s0, 5] = aten.silu.default(self=%gate)
%gated: f32[2*s0, 5] = aten.mul.Tensor(self=%act, other=%up)
%pick2: f32[2*s0, 6, 5] = aten.index.Tensor(self=%dn, indices=[%ids])
%col2: f32[2*s0, 5, 1] = aten.unsqueeze.default(self=%gated, dim=-1)
%bmm2: f32[2*s0, 6, 1] = aten.bmm.default(self=%pick2, mat2=%col2)
%out: f32[2*s0, 6] = aten.squeeze.dim(self=%bmm2, dim=-1)
%wcol: f32[2*s0, 1] = aten.reshape.default(self=%weights, shape=[2*s0, 1])
%weighted: f32[2*s0, 6] = aten.mul.Tensor(self=%out, other=%wcol)
%grouped: f32[s0, 2, 6] = aten.reshape.default(self=%weighted, shape=[s0, 2, 6])
%y: f32[s0, 6] = aten.sum.dim_IntList(self=%grouped, dim=[1])
)");
}

std::string fused() {
    return kHead + std::string(R"(
%y: f32[s0, 6] = workbench.moe_experts(hidden=%x, routing_weights=%weights, indices=%chosen, gate_up=%gu, down=%dn, activation="silu")
)");
}

class Experts : public testing::Test {
protected:
    const at::Tensor m_gateUp = at::randn({3, 10, 6}), m_down = at::randn({3, 6, 5});
    const std::vector<at::Tensor> m_inputs{at::randn({4, 6}), at::rand({4, 2}),
                                           longs({0, 2, 2, 1, 1, 0, 2, 0}, {4, 2})};

    std::unique_ptr<Program> program(const std::string& text) const {
        return compile(text, {{"gate_up", m_gateUp}, {"down", m_down}});
    }
    std::vector<float> resultOf(const std::string& text) const {
        const auto made = program(text);
        const auto outputs = made->run(m_inputs);
        if (!outputs) {
            ADD_FAILURE() << outputs.error().message;
            return {};
        }
        return toVector(outputs->at(0));
    }
};

TEST_F(Experts, AreTheSamePickedAndFused) {
    const std::vector<float> original = resultOf(picked() + "output %y\n"),
                             op = resultOf(fused() + "output %y\n");
    ASSERT_EQ(original.size(), 24u);
    ASSERT_EQ(op.size(), 24u);
    for (std::size_t i = 0; i < op.size(); ++i)
        EXPECT_NEAR(op[i], original[i], 1e-5);
}

TEST_F(Experts, AreKeptPackedOnly) {
    for (const std::string& text : {picked(), fused()}) {
        const auto made = program(text + "output %y\n");
        for (const char* name : {"gu", "dn"}) {
            EXPECT_EQ(made->constant(made->find(name)), nullptr);
            EXPECT_TRUE(made->isHeld(made->find(name)));
        }
        EXPECT_EQ(made->parameterCount(), 3 * 10 * 6 + 3 * 6 * 5);
    }
}

TEST_F(Experts, OneWeightMayBeReadElsewhereToo) {
    const std::string twice =
        "%twice: f32[3, 6, 5] = aten.mul.Tensor(self=%dn, other=2.0)\noutput %y, %twice\n";
    EXPECT_EQ(resultOf(fused() + twice), resultOf(fused() + "output %y\n"));
}

} // namespace
} // namespace workbench::test
