// Decoding over pages (flash decoding, https://crfm.stanford.edu/2023/10/12/flashdecoding.html): one block
// for a token, the query heads of a tile and a part of the keys, so that each key and value is read once for
// all heads that share it. Parts are joined by a second kernel.
#include "runtime/ops/cuda/common.cuh"
#include "runtime/ops/paged_plan.h"

#include <c10/util/Exception.h>

namespace workbench::ops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kJoinThreads = 128;
constexpr int64_t kMostWidth = 1024;

/// Keys whose scores are in shared memory at a time.
constexpr int kTile = static_cast<int>(kPagedPart);

/// Lanes that share a key's dot products: with 4, each reads enough of a row to have several loads under way,
/// and two exchanges add up the products of a head.
constexpr int kLanes = 4;
constexpr int kGroups = kThreads / kLanes;
/// Keys that a lane computes side by side: each query value from shared memory serves so many.
constexpr int kKeys = 2;

/// Query heads of a block; float64 has half, for the sake of shared memory.
template <typename T>
constexpr int kMostHeads = sizeof(T) == 8 ? 4 : 8;

/// Read as one word of up to 16 bytes (or several such).
template <typename T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Chunk {
    T at[kCount];
};

template <int kCount, typename T>
__device__ Chunk<T, kCount> load(const T* from) {
    return *reinterpret_cast<const Chunk<T, kCount>*>(from);
}

/// Elements of a value row that a thread adds up for each head: at most 32 sums, so that two blocks fit a
/// multiprocessor.
template <int kHeads, int kVector>
constexpr int kValueVector = kHeads* kVector > 32 ? kVector / 2 : kVector;

/// Where a key lies.
struct alignas(8) Place {
    int block;
    int slot;
};

/// What a block computes: keys [begin, end) of a token's sequence for query heads [head, head + heads).
struct Work {
    int64_t row, token, position, begin, end, kvHead, head;
    int heads;
    const int32_t* blocks; // of the sequence
};

__device__ Work workOfBlock(const PagedRowsCall& call, int tiles, int tileHeads) {
    Work work;
    work.row = blockIdx.x;
    work.token = call.tokens == nullptr ? work.row : call.tokens[work.row];
    work.position = call.places.positions[work.token];
    const KeyRange seen = visibleAt(call.mask, call.window, work.position);
    work.begin = seen.begin + blockIdx.z * call.partKeys;
    work.end = min(seen.end, work.begin + call.partKeys);
    const int groups = static_cast<int>(call.queryHeads / call.kvHeads);
    const int first = static_cast<int>(blockIdx.y) % tiles * tileHeads;
    work.kvHead = static_cast<int>(blockIdx.y) / tiles;
    work.head = work.kvHead * groups + first;
    work.heads = min(tileHeads, groups - first);
    work.blocks = call.places.blocks + call.places.sequences[work.token] * call.places.blockColumns;
    return work;
}

/// Shared memory of a block, but for its queries.
template <typename T, int kHeads, int kVector>
struct Scratch {
    using S = Acc<T>;
    /// Rows of the last reduction are apart by this, so that its readers, kVector of them per chunk, meet no
    /// bank twice.
    static constexpr int kRowStride = kThreads + 32 / kVector;

    alignas(16) S scores[kTile * kHeads]; // [key][head]: logits, then exp(logit - maximum)
    alignas(16) S sums[kVector * kRowStride];
    Place places[kTile];
    S warps[kWarps][kHeads];
    S factors[kHeads]; // for what was accumulated before the tile; at the end the denominators
};

template <typename T>
__device__ Acc<T> logit(const PagedRowsCall& call, Acc<T> dot, int64_t head, int64_t distance) {
    using S = Acc<T>;
    dot = scaledScore(dot, call.scale, call.softcap);
    return call.slopes == nullptr ? dot : dot + static_cast<S>(call.slopes[head]) * static_cast<S>(distance);
}

/// Scores of the tile's keys [first, first + count). `query`: [kHeads][width], zero for heads that are not
/// there.
template <int kKeyVector, typename T, int kHeads, int kVector>
__device__ void scoreKeys(const PagedRowsCall& call, const Work& work, const Acc<T>* query, int64_t first,
                          int count, Scratch<T, kHeads, kVector>& scratch) {
    using S = Acc<T>;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int group = static_cast<int>(threadIdx.x) / kLanes;
    const int width = static_cast<int>(call.width);
    const T* keys = static_cast<const T*>(call.key) + work.kvHead * call.keyStrides[1];
    for (int base = 0; base < count; base += kGroups * kKeys) {
        const T* rows[kKeys];
#pragma unroll
        for (int k = 0; k < kKeys; ++k) {
            // Past the end the last key once more: every lane takes part in the exchange below.
            const Place place = scratch.places[min(base + k * kGroups + group, count - 1)];
            rows[k] = keys + place.block * call.keyStrides[0] + place.slot * call.keyStrides[2];
        }
        S dots[kKeys][kHeads] = {};
#pragma unroll(kHeads > 2 ? 2 : 4)
        for (int d = lane * kKeyVector; d < width; d += kLanes * kKeyVector) {
            Chunk<T, kKeyVector> key[kKeys];
#pragma unroll
            for (int k = 0; k < kKeys; ++k)
                key[k] = load<kKeyVector>(rows[k] + d);
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                const auto q = load<kKeyVector>(query + h * width + d);
#pragma unroll
                for (int k = 0; k < kKeys; ++k) {
#pragma unroll
                    for (int e = 0; e < kKeyVector; ++e)
                        dots[k][h] = fma(q.at[e], static_cast<S>(key[k].at[e]), dots[k][h]);
                }
            }
        }
#pragma unroll
        for (int k = 0; k < kKeys; ++k) {
            const int i = base + k * kGroups + group;
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                S dot = dots[k][h];
#pragma unroll
                for (int offset = 1; offset < kLanes; offset *= 2)
                    dot += __shfl_xor_sync(kWholeWarp, dot, offset);
                if (h % kLanes == lane && h < work.heads && i < count)
                    scratch.scores[i * kHeads + h] =
                        logit<T>(call, dot, work.head + h, first + i - work.position);
            }
        }
    }
}

/// Combines a value of each thread over the threads of the same head, which is threadIdx.x % kHeads. A
/// barrier stands before and after `warps` is written.
template <int kHeads, typename S, typename F>
__device__ S reduceHead(S value, S (&warps)[kWarps][kHeads], F combine) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
    for (int offset = kWarp / 2; offset >= kHeads; offset /= 2)
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, offset));
    __syncthreads();
    if (lane < kHeads)
        warps[threadIdx.x / kWarp][lane] = value;
    __syncthreads();
    value = warps[0][lane % kHeads];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp)
        value = combine(value, warps[warp][lane % kHeads]);
    return value;
}

/// Turns scores into unnormalised probabilities and updates the maximum and the sum of this thread's head.
/// Rows of heads that are not there hold anything, and stay apart.
template <typename T, int kHeads, int kVector>
__device__ void softmaxTile(int count, Acc<T>& highest, Acc<T>& sum, Scratch<T, kHeads, kVector>& scratch) {
    using S = Acc<T>;
    const int head = static_cast<int>(threadIdx.x) % kHeads;
    const int begin = static_cast<int>(threadIdx.x) / kHeads;
    constexpr int kStep = kThreads / kHeads;
    S most = highest;
    for (int i = begin; i < count; i += kStep)
        most = max(most, scratch.scores[i * kHeads + head]);
    most = reduceHead<kHeads>(most, scratch.warps, [](S a, S b) { return max(a, b); });
    S total = 0;
    for (int i = begin; i < count; i += kStep) {
        const S p = exp(scratch.scores[i * kHeads + head] - most);
        scratch.scores[i * kHeads + head] = p;
        total += p;
    }
    total = reduceHead<kHeads>(total, scratch.warps, [](S a, S b) { return a + b; });
    const S factor = exp(highest - most); // exp(-inf) = 0 at the first tile
    highest = most;
    sum = sum * factor + total;
    if (threadIdx.x < kHeads)
        scratch.factors[threadIdx.x] = factor;
    __syncthreads();
}

/// How threads share a row of values: a column is one chunk of it, and as many subsets of the keys are added
/// up apart as there are threads for.
struct Columns {
    int count;   // of a row
    int stripe;  // columns that are added up at a time
    int subsets; // of the keys
    int column;  // of this thread, the first of every kThreads-th
    int subset;  // of this thread; none where it is not below `subsets`
};

__device__ Columns columnsOf(int64_t valueWidth, int vector) {
    Columns columns;
    columns.count = static_cast<int>(valueWidth) / vector;
    columns.stripe = min(columns.count, kThreads);
    columns.subsets = kThreads / columns.stripe;
    columns.column = static_cast<int>(threadIdx.x) % columns.stripe;
    columns.subset = static_cast<int>(threadIdx.x) / columns.stripe;
    return columns;
}

/// Columns of one thread, for values of at most kMostWidth.
template <int kVector>
constexpr int kColumns = kMostWidth > kThreads* kVector ? static_cast<int>(kMostWidth) / (kThreads * kVector)
                                                        : 1;

template <int kHeads, int kVector, typename S>
struct Totals {
    S at[kColumns<kVector>][kHeads][kVector] = {};
};

template <typename T, int kHeads, int kVector>
__device__ void addValues(const PagedRowsCall& call, const Work& work, const Columns& columns, int count,
                          const Scratch<T, kHeads, kVector>& scratch,
                          Totals<kHeads, kVector, Acc<T>>& totals) {
    using S = Acc<T>;
    if (columns.subset >= columns.subsets)
        return;
    const T* values = static_cast<const T*>(call.value) + work.kvHead * call.valueStrides[1];
#pragma unroll
    for (int n = 0; n < kColumns<kVector>; ++n) {
        const int column = columns.column + n * kThreads;
        if (column >= columns.count)
            break;
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
#pragma unroll
            for (int e = 0; e < kVector; ++e)
                totals.at[n][h][e] *= scratch.factors[h];
        }
#pragma unroll 4
        for (int i = columns.subset; i < count; i += columns.subsets) {
            const Place place = scratch.places[i];
            const auto value = load<kVector>(values + place.block * call.valueStrides[0] +
                                             place.slot * call.valueStrides[2] + column * kVector);
            const auto p = load<kHeads>(scratch.scores + i * kHeads);
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
#pragma unroll
                for (int e = 0; e < kVector; ++e)
                    totals.at[n][h][e] = fma(p.at[h], static_cast<S>(value.at[e]), totals.at[n][h][e]);
            }
        }
    }
}

template <typename S>
__device__ S* partialOf(const PagedRowsCall& call, int64_t row, int64_t head, int64_t part) {
    return static_cast<S*>(call.partials) +
           ((row * call.queryHeads + head) * call.parts + part) * (call.valueWidth + 2);
}

/// Adds up the subsets and writes the block's rows: of the output, or partial ones.
template <typename T, int kHeads, int kVector>
__device__ void writeRows(const PagedRowsCall& call, const Work& work, const Columns& columns,
                          const Totals<kHeads, kVector, Acc<T>>& totals,
                          Scratch<T, kHeads, kVector>& scratch) {
    using S = Acc<T>;
    constexpr int kRowStride = Scratch<T, kHeads, kVector>::kRowStride;
#pragma unroll
    for (int n = 0; n < kColumns<kVector>; ++n) {
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
            if (h >= work.heads || n * kThreads >= columns.count) // the same for all threads
                break;
            __syncthreads(); // the sums before these are read
#pragma unroll
            for (int e = 0; e < kVector; ++e)
                scratch.sums[e * kRowStride + threadIdx.x] = totals.at[n][h][e];
            __syncthreads();
            const int64_t head = work.head + h;
            T* output =
                static_cast<T*>(call.output) + (work.token * call.queryHeads + head) * call.valueWidth;
            for (int i = static_cast<int>(threadIdx.x); i < columns.stripe * kVector; i += kThreads) {
                const int column = i / kVector;
                const int d = n * kThreads * kVector + i;
                if (d >= call.valueWidth)
                    break;
                S total = 0;
                for (int subset = 0; subset < columns.subsets; ++subset)
                    total += scratch.sums[i % kVector * kRowStride + subset * columns.stripe + column];
                if (call.parts == 1)
                    output[d] = static_cast<T>(total / scratch.factors[h]);
                else
                    partialOf<S>(call, work.row, head, blockIdx.z)[2 + d] = total;
            }
        }
    }
}

/// What sums are divided by at the end; a sink is one more logit there.
template <typename S>
__device__ S denominator(const PagedRowsCall& call, int64_t head, S highest, S sum) {
    return call.sinks == nullptr ? sum : sum + exp(static_cast<S>(call.sinks[head]) - highest);
}

template <typename T, int kHeads, int kVector>
__global__ void __launch_bounds__(kThreads, 2) partKernel(PagedRowsCall call, int tiles, int tileHeads) {
    using S = Acc<T>;
    extern __shared__ float4 queryMemory[];
    constexpr int kValue = kValueVector<kHeads, kVector>;
    __shared__ Scratch<T, kHeads, kValue> scratch;
    S* query = reinterpret_cast<S*>(queryMemory);
    __shared__ Work work; // in registers it would not leave room for sums
    if (threadIdx.x == 0)
        work = workOfBlock(call, tiles, tileHeads);
    __syncthreads();
    if (work.begin >= work.end)
        return; // the token sees fewer keys: nobody reads this part
    const int width = static_cast<int>(call.width);
    for (int i = static_cast<int>(threadIdx.x); i < kHeads * width; i += kThreads) {
        const int64_t h = i / width;
        const T* from = static_cast<const T*>(call.query) + (work.head + h) * call.queryStrides[0] +
                        work.token * call.queryStrides[1];
        query[i] = h < work.heads ? static_cast<S>(from[i % width]) : S(0);
    }
    const Columns columns = columnsOf(call.valueWidth, kValue);
    Totals<kHeads, kValue, S> totals;
    S highest = static_cast<S>(-INFINITY); // of head threadIdx.x % kHeads
    S sum = 0;
    for (int64_t first = work.begin; first < work.end; first += kTile) {
        const int count = static_cast<int>(min(static_cast<int64_t>(kTile), work.end - first));
        __syncthreads(); // the last tile is read
        for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
            const int64_t block = (first + i) / call.places.blockTokens;
            scratch.places[i] = {work.blocks[block],
                                 static_cast<int>(first + i - block * call.places.blockTokens)};
        }
        __syncthreads();
        scoreKeys<kVector>(call, work, query, first, count, scratch);
        __syncthreads();
        softmaxTile<T>(count, highest, sum, scratch);
        addValues(call, work, columns, count, scratch, totals);
    }
    __syncthreads(); // the last factors are read
    if (threadIdx.x < work.heads) {
        const int64_t head = work.head + threadIdx.x;
        if (call.parts == 1) {
            scratch.factors[threadIdx.x] = denominator(call, head, highest, sum);
        } else {
            S* partial = partialOf<S>(call, work.row, head, blockIdx.z);
            partial[0] = highest;
            partial[1] = sum;
        }
    }
    writeRows(call, work, columns, totals, scratch); // begins with a barrier
}

/// One block per token and query head.
template <typename T>
__global__ void joinKernel(PagedRowsCall call) {
    using S = Acc<T>;
    __shared__ S shared[kWarp];
    const int64_t row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int64_t token = call.tokens == nullptr ? row : call.tokens[row];
    const KeyRange seen = visibleAt(call.mask, call.window, call.places.positions[token]);
    const int64_t parts = min(partsWith(seen, call.partKeys), call.parts);
    const int64_t stride = call.valueWidth + 2;
    const S* partials = partialOf<S>(call, row, head, 0);
    S highest = static_cast<S>(-INFINITY);
    for (int64_t part = threadIdx.x; part < parts; part += kJoinThreads)
        highest = max(highest, partials[part * stride]);
    highest = blockMax(highest, shared);
    S sum = 0;
    for (int64_t part = threadIdx.x; part < parts; part += kJoinThreads)
        sum += exp(partials[part * stride] - highest) * partials[part * stride + 1];
    sum = denominator(call, head, highest, blockSum(sum, shared));
    T* output = static_cast<T*>(call.output) + (token * call.queryHeads + head) * call.valueWidth;
    for (int64_t d = threadIdx.x; d < call.valueWidth; d += kJoinThreads) {
        S total = 0;
#pragma unroll 4
        for (int64_t part = 0; part < parts; ++part)
            total = fma(exp(partials[part * stride] - highest), partials[part * stride + 2 + d], total);
        output[d] = static_cast<T>(total / sum);
    }
}

/// Whether rows of keys and values can be read in words of 16 bytes.
template <typename T>
bool readsWords(const PagedRowsCall& call) {
    constexpr int64_t kElements = 16 / sizeof(T);
    int64_t odd = call.width % kElements | call.valueWidth % kElements;
    for (const int64_t stride : call.keyStrides)
        odd |= stride % kElements;
    for (const int64_t stride : call.valueStrides)
        odd |= stride % kElements;
    return odd == 0 && reinterpret_cast<uintptr_t>(call.key) % 16 == 0 &&
           reinterpret_cast<uintptr_t>(call.value) % 16 == 0;
}

template <typename T, int kHeads>
void launchParts(const PagedRowsCall& call, int64_t tiles, int64_t tileHeads) {
    const dim3 grid(static_cast<unsigned>(call.rows), static_cast<unsigned>(call.kvHeads * tiles),
                    static_cast<unsigned>(call.parts));
    const auto bytes = static_cast<int>(sizeof(Acc<T>) * kHeads * static_cast<size_t>(call.width));
    const auto launch = [&](auto kernel) {
        // For more than 48 KB, of which the kernel's own take up to 32, one must ask.
        if (bytes > 16384)
            C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernel<<<grid, kThreads, static_cast<size_t>(bytes), c10::cuda::getCurrentCUDAStream()>>>(
            call, static_cast<int>(tiles), static_cast<int>(tileHeads));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    };
    constexpr int kVector = 16 / sizeof(T);
    static_assert(sizeof(Scratch<T, kHeads, kValueVector<kHeads, kVector>>) + sizeof(Work) <= 32768);
    static_assert(sizeof(Scratch<T, kHeads, 1>) + sizeof(Work) <= 32768);
    if (readsWords<T>(call))
        launch(partKernel<T, kHeads, kVector>);
    else
        launch(partKernel<T, kHeads, 1>);
}

template <typename T>
void launchAll(const PagedRowsCall& call) {
    const int64_t groups = call.queryHeads / call.kvHeads;
    const int64_t tiles = (groups + kMostHeads<T> - 1) / kMostHeads<T>;
    const int64_t tileHeads = (groups + tiles - 1) / tiles;
    if (tileHeads == 1)
        launchParts<T, 1>(call, tiles, tileHeads);
    else if (tileHeads == 2)
        launchParts<T, 2>(call, tiles, tileHeads);
    else if (tileHeads <= 4)
        launchParts<T, 4>(call, tiles, tileHeads);
    else
        launchParts<T, kMostHeads<T>>(call, tiles, tileHeads);
    if (call.parts == 1)
        return;
    const dim3 grid(static_cast<unsigned>(call.rows), static_cast<unsigned>(call.queryHeads));
    joinKernel<T><<<grid, kJoinThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(call);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace

void pagedRows(const PagedRowsCall& call) {
    TORCH_CHECK_VALUE(call.width <= kMostWidth && call.valueWidth <= kMostWidth,
                      "workbench::attention: heads of a paged cache are at most ", kMostWidth,
                      " wide on CUDA, got ", call.width, " and ", call.valueWidth, ".");
    TORCH_CHECK_VALUE(call.queryHeads <= 65535,
                      "workbench::attention: at most 65535 query heads on CUDA, got ", call.queryHeads,
                      "."); // the y size of a grid
    WORKBENCH_DISPATCH(call.dtype, launchAll<T>(call))
}

} // namespace workbench::ops::cuda
