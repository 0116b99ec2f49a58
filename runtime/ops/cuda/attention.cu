// A plain kernel: one block per query and head, tiles of keys, online softmax. Right at every shape, not yet
// fast for long prompts.
#include "runtime/ops/cuda/common.cuh"

#include <c10/util/Exception.h>

namespace workbench::ops::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kMaxValuesPerThread = 8;

/// AttentionCall without its host-side vector.
struct DeviceCall {
    const void *query, *key, *value;
    void* output;
    const int64_t* positions;
    const double *sinks, *slopes;
    int64_t tokens, groups, width, valueWidth, window;
    int64_t queryStrides[2], keyStrides[2], valueStrides[2], outputStrides[2];
    double scale, softcap;
    MaskKind mask;
};

/// The first token of the run that holds `token`; does not look before `limit`.
__device__ int64_t runBegin(const int64_t* positions, int64_t token, int64_t limit) {
    __shared__ int64_t found;
    if (threadIdx.x == 0)
        found = limit;
    __syncthreads();
    for (int64_t base = token; base > limit; base -= kThreads) {
        const int64_t t = base - threadIdx.x;
        const bool starts = t > limit && positions[t] != positions[t - 1] + 1;
        if (starts)
            atomicMax(reinterpret_cast<long long*>(&found), static_cast<long long>(t));
        if (__syncthreads_or(starts))
            break;
    }
    __syncthreads();
    return found;
}

/// One past the last token of the run that holds `token`.
__device__ int64_t runEnd(const int64_t* positions, int64_t token, int64_t tokens) {
    __shared__ int64_t found;
    if (threadIdx.x == 0)
        found = tokens;
    __syncthreads();
    for (int64_t base = token + 1; base < tokens; base += kThreads) {
        const int64_t t = base + threadIdx.x;
        const bool starts = t < tokens && positions[t] != positions[t - 1] + 1;
        if (starts)
            atomicMin(reinterpret_cast<long long*>(&found), static_cast<long long>(t));
        if (__syncthreads_or(starts))
            break;
    }
    __syncthreads();
    return found;
}

__device__ void visibleKeys(const DeviceCall& call, int64_t token, int64_t& begin, int64_t& end) {
    int64_t limit = 0;
    if (call.mask == MaskKind::Sliding)
        limit = max(static_cast<int64_t>(0), token - call.window + 1);
    if (call.mask == MaskKind::Chunked) {
        const int64_t position = call.positions[token];
        const int64_t inChunk = ((position % call.window) + call.window) % call.window;
        limit = max(static_cast<int64_t>(0), token - inChunk);
    }
    begin = runBegin(call.positions, token, limit);
    end = call.mask == MaskKind::Full ? runEnd(call.positions, token, call.tokens) : token + 1;
}

template <typename T>
__device__ Acc<T> logit(const DeviceCall& call, const Acc<T>* query, const T* key, Acc<T> slope,
                        int64_t distance) {
    using S = Acc<T>;
    S dot = 0;
    for (int64_t d = 0; d < call.width; ++d)
        dot = fma(query[d], static_cast<S>(key[d]), dot);
    return scaledScore(dot, call.scale, call.softcap) + slope * static_cast<S>(distance);
}

template <typename T>
__global__ void attentionKernel(DeviceCall call) {
    using S = Acc<T>;
    extern __shared__ double sharedBytes[];
    __shared__ S reduce[kWarp];
    __shared__ S probabilities[kThreads];
    S* query = reinterpret_cast<S*>(sharedBytes);
    const int64_t token = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int64_t kvHead = head / call.groups;
    const T* queryRow =
        static_cast<const T*>(call.query) + head * call.queryStrides[0] + token * call.queryStrides[1];
    for (int64_t d = threadIdx.x; d < call.width; d += kThreads)
        query[d] = static_cast<S>(queryRow[d]);
    int64_t begin = 0;
    int64_t end = 0;
    visibleKeys(call, token, begin, end);
    const T* keys = static_cast<const T*>(call.key) + kvHead * call.keyStrides[0];
    const T* values = static_cast<const T*>(call.value) + kvHead * call.valueStrides[0];
    const S slope = call.slopes == nullptr ? S(0) : static_cast<S>(call.slopes[head]);
    S output[kMaxValuesPerThread] = {};
    S rowMax = static_cast<S>(-INFINITY);
    S rowSum = 0;
    for (int64_t first = begin; first < end; first += kThreads) {
        const int64_t j = first + threadIdx.x;
        S x = static_cast<S>(-INFINITY);
        if (j < end)
            x = logit<T>(call, query, keys + j * call.keyStrides[1], slope, j - token);
        const S newMax = max(rowMax, blockMax(x, reduce));
        const S p = j < end ? exp(x - newMax) : S(0);
        const S factor = exp(rowMax - newMax);
        probabilities[threadIdx.x] = p;
        rowSum = rowSum * factor + blockSum(p, reduce); // its barriers also publish the probabilities
        rowMax = newMax;
        const int64_t count = min(static_cast<int64_t>(kThreads), end - first);
        for (int n = 0; n < kMaxValuesPerThread; ++n) {
            const int64_t d = threadIdx.x + static_cast<int64_t>(n) * kThreads;
            if (d >= call.valueWidth)
                break;
            S total = output[n] * factor;
            for (int64_t k = 0; k < count; ++k)
                total = fma(probabilities[k], static_cast<S>(values[(first + k) * call.valueStrides[1] + d]),
                            total);
            output[n] = total;
        }
        __syncthreads(); // before the next tile overwrites the probabilities
    }
    if (call.sinks != nullptr)
        rowSum += exp(static_cast<S>(call.sinks[head]) - rowMax);
    T* to = static_cast<T*>(call.output) + head * call.outputStrides[0] + token * call.outputStrides[1];
    for (int n = 0; n < kMaxValuesPerThread; ++n) {
        const int64_t d = threadIdx.x + static_cast<int64_t>(n) * kThreads;
        if (d < call.valueWidth)
            to[d] = static_cast<T>(output[n] / rowSum);
    }
}

DeviceCall deviceCall(const AttentionCall& call) {
    const AttentionSpan& span = call.spans.front();
    DeviceCall device{};
    device.query = span.query;
    device.key = span.key;
    device.value = span.value;
    device.output = span.output;
    device.positions = call.devicePositions;
    device.sinks = call.sinks;
    device.slopes = call.slopes;
    device.tokens = span.queries;
    device.groups = call.groups();
    device.width = call.width;
    device.valueWidth = call.valueWidth;
    device.window = call.window;
    for (int i = 0; i < 2; ++i) {
        device.queryStrides[i] = call.queryStrides[i];
        device.keyStrides[i] = call.keyStrides[i];
        device.valueStrides[i] = call.valueStrides[i];
        device.outputStrides[i] = call.outputStrides[i];
    }
    device.scale = call.scale;
    device.softcap = call.softcap;
    device.mask = call.mask;
    return device;
}

} // namespace

void attention(const AttentionCall& call) {
    TORCH_CHECK_VALUE(call.valueWidth <= kThreads * kMaxValuesPerThread,
                      "workbench::attention: value is wider than ", kThreads * kMaxValuesPerThread,
                      " on CUDA, got ", call.valueWidth, ".");
    const DeviceCall device = deviceCall(call);
    const dim3 grid(static_cast<unsigned>(device.tokens), static_cast<unsigned>(call.queryHeads));
    const auto stream = c10::cuda::getCurrentCUDAStream();
    WORKBENCH_DISPATCH(
        call.dtype, (attentionKernel<T>
                     <<<grid, kThreads, sizeof(Acc<T>) * static_cast<size_t>(call.width), stream>>>(device)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace workbench::ops::cuda
