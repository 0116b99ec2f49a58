#include "runtime/ops/cuda/common.cuh"

#include <algorithm>

namespace workbench::ops::cuda {
namespace {

constexpr int kThreads = 256;

template <typename S>
__device__ S activate(S x, Activation activation) {
    switch (activation) {
    case Activation::Silu:
        return x / (S(1) + exp(-x));
    case Activation::Gelu:
        return x * S(0.5) * (S(1) + erf(x * S(0.70710678118654752440)));
    case Activation::GeluTanh: {
        const S inner = S(0.79788456080286535588) * (x + S(0.044715) * x * x * x); // sqrt(2 / pi)
        return S(0.5) * x * (S(1) + tanh(inner));
    }
    case Activation::Relu:
        return x < S(0) ? S(0) : x; // keeps NaN
    case Activation::Sigmoid:
        return S(1) / (S(1) + exp(-x));
    }
    return x;
}

template <typename T>
__global__ void actAndMulKernel(ActAndMulCall call) {
    using S = Acc<T>;
    const int64_t width = call.gateUp.width / 2;
    const int64_t row = blockIdx.y + static_cast<int64_t>(blockIdx.z) * gridDim.y;
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= width || row >= call.gateUp.count())
        return;
    const T* gate = static_cast<const T*>(call.gateUp.data) + call.gateUp.offset(row);
    const S active = rounded<T>(activate(static_cast<S>(gate[i]), call.activation));
    static_cast<T*>(call.output)[row * width + i] = static_cast<T>(active * static_cast<S>(gate[width + i]));
}

} // namespace

void actAndMul(const ActAndMulCall& call) {
    const int64_t rows = call.gateUp.count();
    const int64_t width = call.gateUp.width / 2;
    const int64_t gridY = std::min<int64_t>(rows, 32768); // the y and z sizes of a grid end at 65535
    const dim3 grid(static_cast<unsigned>((width + kThreads - 1) / kThreads), static_cast<unsigned>(gridY),
                    static_cast<unsigned>((rows + gridY - 1) / gridY));
    const auto stream = c10::cuda::getCurrentCUDAStream();
    WORKBENCH_DISPATCH(call.dtype, (actAndMulKernel<T><<<grid, kThreads, 0, stream>>>(call)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace workbench::ops::cuda
