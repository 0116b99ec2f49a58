#include "runtime/ops/cuda/common.cuh"

namespace workbench::ops::cuda {
namespace {

constexpr int kThreads = 128;

/// One block per token and side, keys or values. W: the words that are copied; strides and widths count them.
template <typename W>
__global__ void storeKernel(StorePagesCall call) {
    const int64_t token = blockIdx.x;
    const int side = static_cast<int>(blockIdx.y);
    const PagePlaces& places = call.places;
    const int64_t position = places.positions[token];
    const int64_t block =
        places.blocks[places.sequences[token] * places.blockColumns + position / places.blockTokens];
    const W* from = static_cast<const W*>(call.fresh[side]) + token * call.freshStrides[side][1];
    W* to = static_cast<W*>(call.pages[side]) + block * call.pageStrides[side][0] +
            position % places.blockTokens * call.pageStrides[side][2];
    const int width = static_cast<int>(call.widths[side]);
    const int words = static_cast<int>(call.kvHeads) * width;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) {
        const int64_t head = i / width;
        const int64_t d = i % width;
        to[head * call.pageStrides[side][1] + d] = from[head * call.freshStrides[side][0] + d];
    }
}

/// Whether whole words of so many elements can be copied.
bool fits(const StorePagesCall& call, int64_t elements, size_t bytes) {
    int64_t odd = 0;
    for (int side = 0; side < 2; ++side) {
        odd |= call.widths[side] % elements;
        for (const int64_t stride : call.freshStrides[side])
            odd |= stride % elements;
        for (const int64_t stride : call.pageStrides[side])
            odd |= stride % elements;
        odd |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.fresh[side]) % bytes);
        odd |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.pages[side]) % bytes);
    }
    return odd == 0;
}

template <typename W>
void launch(StorePagesCall call, int64_t elements) {
    for (int side = 0; side < 2; ++side) {
        call.widths[side] /= elements;
        for (int64_t& stride : call.freshStrides[side])
            stride /= elements;
        for (int64_t& stride : call.pageStrides[side])
            stride /= elements;
    }
    const dim3 grid(static_cast<unsigned>(call.tokens), 2);
    storeKernel<W><<<grid, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(call);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace

void storePages(const StorePagesCall& call) {
    const auto size = static_cast<int64_t>(c10::elementSize(call.dtype));
    const auto vector = static_cast<int64_t>(sizeof(uint4)) / size;
    if (fits(call, vector, sizeof(uint4)))
        launch<uint4>(call, vector);
    else if (size == 2)
        launch<uint16_t>(call, 1);
    else if (size == 4)
        launch<uint32_t>(call, 1);
    else
        launch<uint64_t>(call, 1);
}

} // namespace workbench::ops::cuda
