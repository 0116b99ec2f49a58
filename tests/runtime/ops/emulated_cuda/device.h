// What nvcc gives to a .cu file without an include, for a C++ compiler and emulator.h. translate.py includes
// it at the top of each file and rewrites what no header can: launches and shared memory. C++17, as nvcc
// compiles kernels.
#pragma once

#include "tests/runtime/ops/emulated_cuda/emulator.h"

#include <math.h> // all of them in the global namespace, for float and double

#include <algorithm>
#include <cstring>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are CUDA's.
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 : workbench::emulated_cuda::Sizes {
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : Sizes{x, y, z} {}
};
struct Indices {
    unsigned x = 0;
    unsigned y = 0;
    unsigned z = 0;
};
extern Indices threadIdx;
extern Indices blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

template <typename T>
T max(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return fmax(a, b);
    else
        return std::max(a, b);
}
template <typename T>
T min(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return fmin(a, b);
    else
        return std::min(a, b);
}

inline bool __syncthreads_or(int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    return workbench::emulated_cuda::barrier({file, line}, predicate != 0);
}
inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    workbench::emulated_cuda::barrier({file, line}, false);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int offset, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= workbench::emulated_cuda::kMostValueBytes);
    using namespace workbench::emulated_cuda;
    const auto flip = static_cast<unsigned>(offset);
    T other;
    std::memcpy(&other, exchange({file, line}, mask, &value, sizeof(T), flip), sizeof(T));
    return other;
}

template <typename T>
T atomicMax(T* at, T value) {
    const T old = *at;
    *at = std::max(old, value);
    return old;
}
template <typename T>
T atomicMin(T* at, T value) {
    const T old = *at;
    *at = std::min(old, value);
    return old;
}

enum cudaError_t { cudaSuccess };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
    workbench::emulated_cuda::allowDynamicBytes(reinterpret_cast<const void*>(kernel),
                                                static_cast<size_t>(bytes));
    return cudaSuccess;
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace workbench::emulated_cuda {

/// `__shared__ T name;` of a kernel: a static variable that each block finds without values.
template <typename T>
class Shared {
public:
    T& inBlock() {
        if (m_block != blockNumber()) {
            m_block = blockNumber();
            claimStatic(m_bytes, sizeof(T));
        }
        return *reinterpret_cast<T*>(m_bytes);
    }

private:
    int64_t m_block = 0;
    alignas(T) unsigned char m_bytes[sizeof(T)] = {};
};

/// `kernel<<<grid, block, bytes, stream>>>(arguments)` is `launcher("kernel", kernel, grid, ...)(arguments)`.
template <typename... Parameters>
auto launcher(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t bytes = 0,
              const void* = nullptr) {
    return [=](Parameters... arguments) {
        run({name, reinterpret_cast<const void*>(kernel), grid, block, bytes}, [&] { kernel(arguments...); });
    };
}

} // namespace workbench::emulated_cuda
