// The operators through PyTorch's dispatcher, as a Program or a loaded archive calls them.
#include "runtime/ops/attention.h"
#include "runtime/ops/kernels.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/schemas.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdlib>
#include <string>

namespace workbench::ops {
namespace {

template <std::size_t kCount>
void expectOnCpu(const std::string& space, const Schema (&schemas)[kCount]) {
    for (const Schema& schema : schemas) {
        const auto handle = c10::Dispatcher::singleton().findSchema({space + "::" + schema.name, ""});
        ASSERT_TRUE(handle.has_value()) << schema.name;
        EXPECT_TRUE(handle->hasKernelForDispatchKey(c10::DispatchKey::CPU)) << schema.name;
    }
}

TEST(OperatorLibrary, RegistersEveryOperatorForTheCpu) {
    expectOnCpu("workbench", kSchemas);
}

TEST(OperatorLibrary, RegistersTheEnginesOperatorsToo) {
    expectOnCpu("workbench_engine", kEngineSchemas);
}

TEST(OperatorLibrary, StoresInThePagesThatAnOperatorIsGiven) {
    const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("workbench_engine::attention_on_tables", "");
    const at::Tensor query = at::randn({1, 4, 3, 16});
    const at::Tensor key = at::randn({1, 2, 3, 16});
    const at::Tensor value = at::randn({1, 2, 3, 8});
    const at::Tensor positions = at::arange(3, at::kLong).unsqueeze(0);
    at::Tensor keyPages = at::zeros({2, 2, 4, 16});
    at::Tensor valuePages = at::zeros({2, 2, 4, 8});
    torch::jit::Stack stack{query,
                            key,
                            value,
                            positions,
                            keyPages,
                            valuePages,
                            at::zeros({3}, at::kInt),
                            at::ones({1, 1}, at::kInt),
                            0.25,
                            "causal",
                            0,
                            0.0,
                            c10::IValue(),
                            c10::IValue()};
    op.callBoxed(stack);
    const at::Tensor expected = attention(
        {query, key, value, positions, 0, 0.25, MaskKind::Causal, 0, 0, std::nullopt, std::nullopt});
    testing::expectCloseSums(stack.at(0).toTensor(), expected);
    EXPECT_TRUE(at::equal(keyPages[1].slice(1, 0, 3), key[0]));
    EXPECT_TRUE(at::equal(valuePages[1].slice(1, 0, 3), value[0]));
    EXPECT_TRUE(at::equal(keyPages[0], at::zeros({2, 4, 16})));
}

TEST(OperatorLibrary, CallsTheSameKernelThroughTheDispatcher) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("workbench::rms_norm", "");
    const at::Tensor input = at::randn({3, 16});
    const at::Tensor weight = at::randn({16});
    torch::jit::Stack stack{input, weight, 1e-5, 1.0, "after_weight"};
    op.callBoxed(stack);
    EXPECT_TRUE(at::equal(stack.at(0).toTensor(), rmsNorm(input, weight, {1e-5, 1, NormCast::AfterWeight})));
}

TEST(OperatorLibrary, RefusesUnknownWords) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("workbench::act_and_mul", "");
    torch::jit::Stack stack{at::randn({3, 16}), "swish"};
    testing::expectRefused([&] { op.callBoxed(stack); },
                           "workbench::act_and_mul: activation must be one of silu, gelu, gelu_tanh, relu, "
                           "sigmoid, got 'swish'.");
}

TEST(OperatorLibrary, UsesTheInstructionSetThatIsForced) {
    const char* forced = std::getenv("ATEN_CPU_CAPABILITY");
    if (forced == nullptr || *forced == 0)
        GTEST_SKIP() << "no instruction set is forced";
    EXPECT_STREQ(cpuKernels().name, std::string(forced) == "default" ? "baseline" : forced);
}

} // namespace
} // namespace workbench::ops
