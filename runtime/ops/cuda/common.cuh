// What the CUDA kernels share.
#pragma once

#include "runtime/ops/dtype_dispatch.h"
#include "runtime/ops/kernels.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <type_traits>

namespace workbench::ops::cuda {

inline constexpr int kWarp = 32; ///< threads that move together; shuffles reach so far
inline constexpr unsigned kWholeWarp = 0xffffffffu;

template <typename T>
using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The value after a round trip through T: what eager PyTorch has between two operators.
template <typename T>
__device__ Acc<T> rounded(Acc<T> value) {
    return static_cast<Acc<T>>(static_cast<T>(value));
}

template <typename S>
__device__ S warpSum(S value) {
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, offset);
    return value;
}

template <typename S>
__device__ S warpMax(S value) {
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
        value = max(value, __shfl_xor_sync(kWholeWarp, value, offset));
    return value;
}

/// Reduces over a block of whole warps; every thread gets the result. `shared` has room for a value of each
/// of them, of which there are kWarp at most.
template <typename S, typename F>
__device__ S blockReduce(S value, S identity, S* shared, F warpReduce) {
    const int lane = threadIdx.x % kWarp;
    const int warp = threadIdx.x / kWarp;
    value = warpReduce(value);
    __syncthreads(); // the last reduction's readers are done
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    return warpReduce(lane < static_cast<int>(blockDim.x / kWarp) ? shared[lane] : identity);
}

template <typename S>
__device__ S blockSum(S value, S* shared) {
    return blockReduce(value, S(0), shared, [](S x) { return warpSum(x); });
}

template <typename S>
__device__ S blockMax(S value, S* shared) {
    return blockReduce(value, static_cast<S>(-INFINITY), shared, [](S x) { return warpMax(x); });
}

/// A score of attention from a dot product: scaled, and bent where softcap is not 0.
template <typename S>
__device__ S scaledScore(S dot, double scale, double softcap) {
    dot *= static_cast<S>(scale);
    return softcap != 0 ? static_cast<S>(softcap) * tanh(dot / static_cast<S>(softcap)) : dot;
}

/// RMSNorm of one element, given 1 / sqrt(mean square + eps) of its row.
template <typename T>
__device__ Acc<T> normalized(T x, Acc<T> inverse, const T* weight, int64_t i, const NormSpec& spec) {
    using S = Acc<T>;
    const S y = static_cast<S>(x) * inverse;
    if (weight == nullptr)
        return rounded<T>(y);
    const S w = static_cast<S>(weight[i]);
    const S offset = static_cast<S>(spec.weightOffset);
    if (spec.cast == NormCast::AfterWeight)
        return rounded<T>(y * (offset + w));
    return rounded<T>(rounded<T>(y) * (offset == S(0) ? w : rounded<T>(offset + w)));
}

WORKBENCH_KERNELS(WORKBENCH_KERNEL_DECLARATION)

} // namespace workbench::ops::cuda
