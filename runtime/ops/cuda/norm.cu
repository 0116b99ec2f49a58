#include "runtime/ops/cuda/common.cuh"

namespace workbench::ops::cuda {
namespace {

constexpr int kThreads = 256;

/// One block per row. The rounded sum is read back by the thread that wrote it: it is what the norm of the
/// unfused graph sees.
template <typename T>
__global__ void normKernel(RmsNormCall call) {
    using S = Acc<T>;
    __shared__ S shared[kWarp];
    const int64_t row = blockIdx.x;
    const int64_t width = call.input.width;
    const T* x = static_cast<const T*>(call.input.data) + call.input.offset(row);
    if (call.residual.data != nullptr) {
        const T* residual = static_cast<const T*>(call.residual.data) + call.residual.offset(row);
        T* sum = static_cast<T*>(call.sum) + row * width;
        for (int64_t i = threadIdx.x; i < width; i += blockDim.x)
            sum[i] = static_cast<T>(static_cast<S>(x[i]) + static_cast<S>(residual[i]));
        x = sum;
    }
    S squares = 0;
    for (int64_t i = threadIdx.x; i < width; i += blockDim.x) {
        const S value = static_cast<S>(x[i]);
        squares += value * value;
    }
    squares = blockSum(squares, shared);
    const S inverse = S(1) / sqrt(squares / static_cast<S>(width) + static_cast<S>(call.spec.eps));
    T* normed = static_cast<T*>(call.normed) + row * width;
    for (int64_t i = threadIdx.x; i < width; i += blockDim.x)
        normed[i] =
            static_cast<T>(normalized(x[i], inverse, static_cast<const T*>(call.weight), i, call.spec));
}

} // namespace

void rmsNorm(const RmsNormCall& call) {
    const auto rows = static_cast<unsigned>(call.input.count());
    const auto stream = c10::cuda::getCurrentCUDAStream();
    WORKBENCH_DISPATCH(call.dtype, (normKernel<T><<<rows, kThreads, 0, stream>>>(call)))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace workbench::ops::cuda
