#include "tests/runtime/ops/emulated_cuda/probe.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace workbench::emulated_cuda::probe {
namespace {

__global__ void swapKernel(float* values, int rounds, Barriers barriers) {
    extern __shared__ float4 memory[];
    float* shared = reinterpret_cast<float*>(memory);
    float mine = values[threadIdx.x];
    for (int round = 0; round < rounds; ++round) {
        shared[threadIdx.x] = mine;
        if (barriers == Barriers::Both || barriers == Barriers::BeforeReading)
            __syncthreads();
        mine = shared[threadIdx.x ^ 1];
        if (barriers == Barriers::Both || barriers == Barriers::BeforeWriting)
            __syncthreads();
    }
    values[threadIdx.x] = mine;
}

__device__ unsigned linear(Indices index, dim3 sizes) {
    return (index.z * sizes.y + index.y) * sizes.x + index.x;
}

__global__ void countKernel(int* counts) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    ++counts[linear(blockIdx, gridDim) * threads + linear(threadIdx, blockDim)];
}

__global__ void firstKernel(unsigned* first) {
    if (first[blockIdx.x] == blockDim.x)
        first[blockIdx.x] = threadIdx.x;
}

__global__ void reduceKernel(const long long* values, long long needle, Reductions* result) {
    __shared__ long long ends[2];
    if (threadIdx.x == 0)
        ends[0] = ends[1] = values[0];
    __syncthreads();
    atomicMin(&ends[0], values[threadIdx.x]);
    atomicMax(&ends[1], values[threadIdx.x]);
    const bool any = __syncthreads_or(values[threadIdx.x] == needle);
    const bool none = __syncthreads_or(false);
    if (threadIdx.x == blockDim.x - 1)
        *result = {ends[0], ends[1], any, none};
}

__global__ void exchangeKernel(double* values, int offset, unsigned mask) {
    values[threadIdx.x] = __shfl_xor_sync(mask, values[threadIdx.x], offset);
}

__global__ void nanKernel(float* values) {
    const float nan = NAN;
    values[0] = max(nan, 1.0f);
    values[1] = max(1.0f, nan);
    values[2] = min(nan, 1.0f);
    values[3] = min(1.0f, nan);
}

__global__ void dynamicKernel() {}

__global__ void staticKernel() {
    __shared__ double values[4096];
    values[threadIdx.x] = 0;
}

__global__ void twoBarriersKernel() {
    if (threadIdx.x < 5)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void endedKernel() {
    if (threadIdx.x != 7)
        __syncthreads();
}

__global__ void twoExchangesKernel(int* value) {
    if (threadIdx.x % 2 == 0)
        *value += __shfl_xor_sync(0xffffffffu, *value, 1);
    else
        *value -= __shfl_xor_sync(0xffffffffu, *value, 1);
}

} // namespace

std::vector<float> swapNeighbours(const std::vector<float>& input, int rounds, Barriers barriers) {
    std::vector<float> values = input;
    const auto threads = static_cast<unsigned>(values.size());
    swapKernel<<<1, threads, values.size() * sizeof(float), c10::cuda::getCurrentCUDAStream()>>>(
        values.data(), rounds, barriers);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return values;
}

std::vector<int> countThreads(Sizes grid, Sizes block) {
    std::vector<int> counts(size_t{1} * grid.x * grid.y * grid.z * block.x * block.y * block.z);
    countKernel<<<dim3(grid.x, grid.y, grid.z), dim3(block.x, block.y, block.z)>>>(counts.data());
    return counts;
}

std::vector<unsigned> firstThreads(unsigned blocks, unsigned threads) {
    std::vector<unsigned> first(blocks, threads);
    firstKernel<<<blocks, threads>>>(first.data());
    return first;
}

Reductions reduce(const std::vector<long long>& values, long long needle) {
    Reductions result;
    reduceKernel<<<1, static_cast<unsigned>(values.size())>>>(values.data(), needle, &result);
    return result;
}

std::vector<double> exchange(unsigned threads, int offset, unsigned mask) {
    std::vector<double> values(threads);
    for (unsigned thread = 0; thread < threads; ++thread)
        values[thread] = thread;
    exchangeKernel<<<1, threads>>>(values.data(), offset, mask);
    return values;
}

std::vector<float> compareWithNan() {
    std::vector<float> values(4);
    nanKernel<<<1, 1>>>(values.data());
    return values;
}

void useDynamicBytes(size_t bytes, size_t allowed) {
    if (allowed > 0)
        C10_CUDA_CHECK(cudaFuncSetAttribute(dynamicKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(allowed)));
    dynamicKernel<<<1, 32, bytes>>>();
}

void useStaticAndDynamicBytes(size_t dynamicBytes) {
    staticKernel<<<1, 32, dynamicBytes>>>();
}

void waitAtTwoBarriers() {
    twoBarriersKernel<<<1, 32>>>();
}

void waitForAThreadThatEnded() {
    endedKernel<<<1, 32>>>();
}

void exchangeInTwoPlaces() {
    int value = 1;
    twoExchangesKernel<<<1, 32>>>(&value);
}

} // namespace workbench::emulated_cuda::probe
