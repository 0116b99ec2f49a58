#include "runtime/ops/cuda/common.cuh"

#include <algorithm>

namespace workbench::ops {
namespace cuda {

namespace {

constexpr int kWarps = 8;
constexpr int kThreads = kWarp * kWarps;

dim3 gridFor(int64_t x, int64_t y) {
    const int64_t gridY = std::min<int64_t>(y, 32768); // the y and z sizes of a grid end at 65535
    return dim3(static_cast<unsigned>(x), static_cast<unsigned>(gridY),
                static_cast<unsigned>((y + gridY - 1) / gridY));
}

__device__ int64_t secondIndex() {
    return blockIdx.y + static_cast<int64_t>(blockIdx.z) * gridDim.y;
}

/// One warp for each output of a pair.
template <typename T>
__global__ void productKernel(MoeProductCall call) {
    using S = Acc<T>;
    const int64_t pair = secondIndex();
    const int64_t output = blockIdx.x * static_cast<int64_t>(kWarps) + threadIdx.x / kWarp;
    if (pair >= call.pairs || output >= call.outputs)
        return;
    const int64_t row = call.inputRows ? call.inputRows[pair] : pair;
    const T* input = static_cast<const T*>(call.input) + row * call.columns;
    const T* weight =
        static_cast<const T*>(call.weights) + (call.experts[pair] * call.outputs + output) * call.columns;
    S sum = 0;
    for (int64_t i = threadIdx.x % kWarp; i < call.columns; i += kWarp)
        sum += static_cast<S>(weight[i]) * static_cast<S>(input[i]);
    sum = warpSum(sum);
    if (threadIdx.x % kWarp == 0)
        static_cast<T*>(call.output)[pair * call.outputs + output] = static_cast<T>(sum);
}

/// W: float or T. Weights in T round each product.
template <typename T, typename W>
__global__ void sumKernel(MoeSumCall call) {
    using S = Acc<T>;
    const int64_t token = secondIndex();
    const int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x;
    if (token >= call.tokens || i >= call.width)
        return;
    S sum = 0;
    for (int64_t chosen = 0; chosen < call.topK; ++chosen) {
        const int64_t at = token * call.topK + chosen;
        const S value = static_cast<S>(static_cast<const T*>(call.outputs)[call.places[at] * call.width + i]);
        const S weighted = value * static_cast<S>(static_cast<const W*>(call.routingWeights)[at]);
        sum += std::is_same_v<T, W> ? rounded<T>(weighted) : weighted;
    }
    static_cast<T*>(call.output)[token * call.width + i] = static_cast<T>(sum);
}

template <typename S>
__device__ void storeWeight(const MoeRouteCall& call, int64_t at, S weight) {
    WORKBENCH_DISPATCH(call.weightsDtype, static_cast<T*>(call.weights)[at] = static_cast<T>(weight))
}

/// exp(x - max) / sum over `count` values in shared memory, by a whole block.
template <typename S>
__device__ void softmax(S* values, int64_t count, S* shared) {
    S highest = -INFINITY;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        highest = max(highest, values[i]);
    highest = blockMax(highest, shared);
    S sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        values[i] = exp(values[i] - highest);
        sum += values[i];
    }
    sum = blockSum(sum, shared);
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        values[i] = values[i] / sum;
    __syncthreads();
}

/// One block for each token; `memory` has room for the scores and the weights. Selects the largest k times:
/// of equal scores the first expert, where the CPU takes what at::topk takes there.
template <typename T>
__global__ void routeKernel(MoeRouteCall call) {
    using S = Acc<T>;
    extern __shared__ double memory[];
    __shared__ S shared[kWarp];
    S* scores = reinterpret_cast<S*>(memory);
    S* weights = scores + call.experts;
    const int64_t token = secondIndex();
    if (token >= call.tokens)
        return;
    const T* logits = static_cast<const T*>(call.logits) + token * call.experts;
    for (int64_t i = threadIdx.x; i < call.experts; i += blockDim.x)
        scores[i] = static_cast<S>(logits[i]);
    __syncthreads();
    if (call.order == RouteOrder::SoftmaxFirst)
        softmax(scores, call.experts, shared);
    if (threadIdx.x == 0) {
        for (int64_t chosen = 0; chosen < call.topK; ++chosen) {
            int64_t best = -1;
            for (int64_t i = 0; i < call.experts; ++i) {
                bool taken = false;
                for (int64_t earlier = 0; earlier < chosen; ++earlier)
                    taken = taken || call.indices[token * call.topK + earlier] == i;
                const bool larger =
                    best < 0 || scores[i] > scores[best] || (isnan(scores[i]) && !isnan(scores[best]));
                best = !taken && larger ? i : best;
            }
            call.indices[token * call.topK + chosen] = best;
            weights[chosen] = scores[best];
        }
    }
    __syncthreads();
    if (call.order == RouteOrder::TopKFirst)
        softmax(weights, call.topK, shared);
    S total = 1;
    if (call.renormalize) {
        S sum = 0;
        for (int64_t i = threadIdx.x; i < call.topK; i += blockDim.x)
            sum += weights[i];
        total = blockSum(sum, shared);
    }
    for (int64_t i = threadIdx.x; i < call.topK; i += blockDim.x)
        storeWeight(call, token * call.topK + i, weights[i] / total);
}

} // namespace

void moeProduct(const MoeProductCall& call) {
    const dim3 grid = gridFor((call.outputs + kWarps - 1) / kWarps, call.pairs);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    WORKBENCH_DISPATCH(call.dtype, (productKernel<T><<<grid, kThreads, 0, stream>>>(call)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void moeSum(const MoeSumCall& call) {
    const dim3 grid = gridFor((call.width + kThreads - 1) / kThreads, call.tokens);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    if (call.weightsDtype == call.dtype) {
        WORKBENCH_DISPATCH(call.dtype, (sumKernel<T, T><<<grid, kThreads, 0, stream>>>(call)))
    } else {
        WORKBENCH_DISPATCH(call.dtype, (sumKernel<T, float><<<grid, kThreads, 0, stream>>>(call)))
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void moeRoute(const MoeRouteCall& call) {
    const dim3 grid = gridFor(1, call.tokens);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    const auto bytes = static_cast<size_t>(call.experts + call.topK) * sizeof(double);
    WORKBENCH_DISPATCH(call.logitsDtype, (routeKernel<T><<<grid, 128, bytes, stream>>>(call)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace cuda
} // namespace workbench::ops
