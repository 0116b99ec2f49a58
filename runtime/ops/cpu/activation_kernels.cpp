#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/wide.h"
#include "runtime/ops/thread_pool.h"

#include <numbers>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

// The formulas are those of ATen's own kernels (ATen/native/cpu/Activation.cpp), so that results agree to the
// last bit or nearly so.
template <Activation kActivation, typename Vec>
Vec activate(const Vec& x) {
    using Scalar = typename Vec::value_type;
    const Vec one(1);
    if constexpr (kActivation == Activation::Silu) {
        return x / (one + x.neg().exp());
    } else if constexpr (kActivation == Activation::Gelu) {
        return x * Vec(Scalar(0.5)) * (one + (x * Vec(Scalar(1 / std::numbers::sqrt2))).erf());
    } else if constexpr (kActivation == Activation::GeluTanh) {
        const Vec beta(Scalar(std::numbers::sqrt2 * std::numbers::inv_sqrtpi)); // sqrt(2 / pi)
        const Vec inner = beta * (x + Vec(Scalar(0.044715)) * (x * x * x));
        return Vec(Scalar(0.5)) * x * (one + inner.tanh());
    } else if constexpr (kActivation == Activation::Relu) {
        return at::vec::clamp_min(x, Vec(0));
    } else {
        return (one + x.neg().exp()).reciprocal();
    }
}

template <typename T, Activation kActivation>
void run(const ActAndMulCall& call) {
    const int64_t width = call.gateUp.width / 2;
    parallelFor(call.gateUp.count(), rowGrain(width), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const T* gate = static_cast<const T*>(call.gateUp.data) + call.gateUp.offset(i);
            const T* up = gate + width;
            T* output = static_cast<T*>(call.output) + i * width;
            forEachVector<T>(width, [&](int64_t offset, int64_t count) {
                const auto active = Wide<T>::load(gate + offset, count)
                                        .map([](const auto& x) { return activate<kActivation>(x); })
                                        .rounded();
                (active * Wide<T>::load(up + offset, count)).store(output + offset, count);
            });
        }
    });
}

template <typename T>
void runActivation(const ActAndMulCall& call) {
    switch (call.activation) {
    case Activation::Silu:
        return run<T, Activation::Silu>(call);
    case Activation::Gelu:
        return run<T, Activation::Gelu>(call);
    case Activation::GeluTanh:
        return run<T, Activation::GeluTanh>(call);
    case Activation::Relu:
        return run<T, Activation::Relu>(call);
    case Activation::Sigmoid:
        return run<T, Activation::Sigmoid>(call);
    }
}

} // namespace

void actAndMul(const ActAndMulCall& call) {
    WORKBENCH_DISPATCH(call.dtype, runActivation<T>(call))
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
