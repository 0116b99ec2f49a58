#include "runtime/ops/activation.h"
#include "runtime/ops/norm.h"
#include "tests/runtime/program/support.h"

#include <ATen/Functions.h>

namespace workbench::test {
namespace {

/// [1, 5, 12] of distinct numbers.
at::Tensor numbers() {
    return at::arange(60, at::kFloat).reshape({1, 5, 12}).sin();
}

std::vector<at::Tensor> outputsOf(const std::string& text, const at::Tensor& input,
                                  std::map<std::string, at::Tensor> parameters = {}) {
    auto program = compile("input %x: f32[1, s0, 12]\n" + text, std::move(parameters));
    auto outputs = program->run(std::vector{input});
    EXPECT_TRUE(outputs) << outputs.error().message;
    return *outputs;
}

TEST(DirectCall, ViewsAreThoseOfLibTorch) {
    const at::Tensor x = numbers();
    const auto found = outputsOf(R"(
%a: f32[1, s0, 4], %b: f32[1, s0, 8] = aten.split_with_sizes.default(self=%x, split_sizes=[4, 8], dim=-1)
%heads: f32[1, s0, 2, 4] = aten.view.default(self=%b, size=[1, s0, -1, 4])
%turned: f32[1, 2, s0, 4] = aten.transpose.int(self=%heads, dim0=1, dim1=-2)
%wide: f32[1, 1, s0, 4] = aten.unsqueeze.default(self=%a, dim=1)
%last: f32[1, s0, 4, 1] = aten.unsqueeze.default(self=%a, dim=-1)
output %a, %turned, %wide, %last
)",
                                 x);
    const auto parts = at::split_with_sizes(x, {4, 8}, -1);
    const at::Tensor turned = parts[1].view({1, 5, 2, 4}).transpose(1, -2);
    const std::vector<at::Tensor> expected{parts[0], turned, parts[0].unsqueeze(1), parts[0].unsqueeze(-1)};
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
        EXPECT_EQ(found[i].strides(), expected[i].strides()) << i;
        EXPECT_EQ(found[i].const_data_ptr(), expected[i].const_data_ptr()) << i;
    }
}

TEST(DirectCall, ANumberWithoutDimensionsTurnsIntoItself) {
    auto program = compile(R"(
input %x: f32[]
%t: f32[] = aten.transpose.int(self=%x, dim0=0, dim1=-1)
output %t
)");
    const auto outputs = program->run(std::vector{at::scalar_tensor(3.0)});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(outputs->at(0).item<float>(), 3);
}

TEST(DirectCall, FusedOperatorsAreThoseOfTheLibrary) {
    const at::Tensor x = numbers();
    const at::Tensor weight = at::arange(12, at::kFloat).cos();
    const auto found = outputsOf(R"(
parameter %w: f32[12] "w"
%n: f32[1, s0, 12] = workbench.rms_norm(input=%x, weight=%w, eps=1e-05, weight_offset=1.0, cast="after_weight")
%m: f32[1, s0, 12], %s: f32[1, s0, 12] = workbench.add_rms_norm(input=%n, residual=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%g: f32[1, s0, 6] = workbench.act_and_mul(gate_up=%m, activation="gelu")
output %n, %m, %s, %g
)",
                                 x, {{"w", weight}});
    const at::Tensor normed = ops::rmsNorm(x, weight, {1e-5, 1, ops::NormCast::AfterWeight});
    const auto [m, s] = ops::addRmsNorm(normed, x, std::nullopt, {1e-5, 0, ops::NormCast::BeforeWeight});
    EXPECT_TRUE(at::equal(found[0], normed));
    EXPECT_TRUE(at::equal(found[1], m));
    EXPECT_TRUE(at::equal(found[2], s));
    EXPECT_TRUE(at::equal(found[3], ops::actAndMul(m, ops::Activation::Gelu)));
}

TEST(DirectCall, RowsArePickedAsLibTorchPicksThem) {
    auto program = compile(R"(
input %x: f32[1, s0, 12]
input %rows: i64[s1]
%turned: f32[12, s0, 1] = aten.transpose.int(self=%x, dim0=0, dim1=2)
%y: f32[1, s1, 12] = aten.index.Tensor(self=%x, indices=[none, %rows])
%z: f32[12, s1, 1] = aten.index.Tensor(self=%turned, indices=[none, %rows])
output %y, %z
)");
    const at::Tensor x = numbers();
    const at::Tensor rows = longs({4, -5, 0, 4}, {4});
    for (int run = 0; run < 3; ++run) {
        const auto outputs = program->run(std::vector{x, rows});
        ASSERT_TRUE(outputs) << outputs.error().message;
        EXPECT_TRUE(at::equal(outputs->at(0), at::index(x, {std::nullopt, rows})));
        EXPECT_TRUE(at::equal(outputs->at(1), at::index(x.transpose(0, 2), {std::nullopt, rows})));
    }
    const auto outside = program->run(std::vector{x, longs({5}, {1})});
    ASSERT_FALSE(outside);
    EXPECT_NE(outside.error().message.find("row 5 is not one of the 5"), std::string::npos)
        << outside.error().message;
}

TEST(DirectCall, ASplitThatDoesNotFitNamesItsNode) {
    auto program = compile(R"(
input %x: f32[1, s0, s1]
%a: f32[1, s0, 4], %b: f32[1, s0, 8] = aten.split_with_sizes.default(self=%x, split_sizes=[4, 8], dim=2)
%y: f32[1, s0, 8] = aten.neg.default(self=%b)
output %a, %y
)");
    const auto outputs = program->run(std::vector{at::zeros({1, 2, 13})});
    ASSERT_FALSE(outputs);
    EXPECT_NE(outputs.error().message.find("aten.split_with_sizes"), std::string::npos)
        << outputs.error().message;
}

TEST(DirectCall, AViewThatMemoryDoesNotAllowNamesItsNode) {
    auto program = compile(R"(
input %x: f32[s0, 4]
%t: f32[4, s0] = aten.transpose.int(self=%x, dim0=0, dim1=1)
%y: f32[4*s0] = aten.view.default(self=%t, size=[-1])
output %y
)");
    const auto outputs = program->run(std::vector{at::zeros({3, 4})});
    ASSERT_FALSE(outputs);
    EXPECT_NE(outputs.error().message.find("aten.view"), std::string::npos) << outputs.error().message;
}

} // namespace
} // namespace workbench::test
