#include "runtime/ops/cuda/common.cuh"

namespace workbench::ops::cuda {
namespace {

constexpr int kWarps = 4;

/// Reads elements of one head, after its RMSNorm when there is one.
template <typename T>
struct HeadReader {
    using S = Acc<T>;
    const T* x;
    const T* weight;
    const NormSpec* spec; // null: no norm
    S inverse;

    __device__ S operator()(int64_t i) const {
        return spec == nullptr ? static_cast<S>(x[i]) : normalized(x[i], inverse, weight, i, *spec);
    }
};

template <typename T>
__device__ HeadReader<T> readHead(const RopeCall& call, const T* x, int side, int lane) {
    using S = Acc<T>;
    if (!call.norm)
        return {x, nullptr, nullptr, S(0)};
    S squares = 0;
    for (int64_t i = lane; i < call.width; i += kWarp) {
        const S value = static_cast<S>(x[i]);
        squares += value * value;
    }
    squares = warpSum(squares);
    const S inverse = S(1) / sqrt(squares / static_cast<S>(call.width) + static_cast<S>(call.spec.eps));
    return {x, static_cast<const T*>(call.weights[side]), &call.spec, inverse};
}

/// One warp per head of a token, of query and key.
template <typename T>
__global__ void ropeKernel(RopeCall call) {
    using S = Acc<T>;
    const int lane = threadIdx.x % kWarp;
    const int64_t heads = call.sides[0].heads + call.sides[1].heads;
    const int64_t unit = blockIdx.x * static_cast<int64_t>(kWarps) + threadIdx.x / kWarp;
    if (unit >= call.batch * call.tokens * heads)
        return;
    const int64_t batch = unit / heads / call.tokens;
    const int64_t token = unit / heads % call.tokens;
    const int side = unit % heads < call.sides[0].heads ? 0 : 1;
    const int64_t head = unit % heads - (side == 0 ? 0 : call.sides[0].heads);
    const Heads& source = call.sides[side];
    const T* x = static_cast<const T*>(source.data) + batch * source.batchStride +
                 token * source.tokenStride + head * source.headStride;
    T* output = static_cast<T*>(call.outputs[side]) +
                ((batch * source.heads + head) * call.tokens + token) * call.width;
    const T* cos = static_cast<const T*>(call.cos) + batch * call.cosStrides[0] + token * call.cosStrides[1];
    const T* sin = static_cast<const T*>(call.sin) + batch * call.sinStrides[0] + token * call.sinStrides[1];
    const HeadReader<T> read = readHead(call, x, side, lane);
    const int64_t half = call.rotaryWidth / 2;
    for (int64_t pair = lane; pair < half; pair += kWarp) {
        const int64_t i = call.style == RopeStyle::Half ? pair : 2 * pair;
        const int64_t j = call.style == RopeStyle::Half ? pair + half : 2 * pair + 1;
        const S first = read(i);
        const S second = read(j);
        output[i] = static_cast<T>(rounded<T>(first * static_cast<S>(cos[i])) +
                                   rounded<T>(-second * static_cast<S>(sin[i])));
        output[j] = static_cast<T>(rounded<T>(second * static_cast<S>(cos[j])) +
                                   rounded<T>(first * static_cast<S>(sin[j])));
    }
    for (int64_t i = call.rotaryWidth + lane; i < call.width; i += kWarp)
        output[i] = static_cast<T>(read(i));
}

} // namespace

void rope(const RopeCall& call) {
    const int64_t units = call.batch * call.tokens * (call.sides[0].heads + call.sides[1].heads);
    const auto blocks = static_cast<unsigned>((units + kWarps - 1) / kWarps);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    WORKBENCH_DISPATCH(call.dtype, (ropeKernel<T><<<blocks, kWarps * kWarp, 0, stream>>>(call)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace workbench::ops::cuda
