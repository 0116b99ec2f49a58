// The op library's choice of kernels for this program: CUDA's, emulated, for tensors in the host's memory.
#include "runtime/ops/kernels.h"

#include "runtime/ops/checks.h"
#include "tests/runtime/ops/support.h"

namespace workbench::ops {

namespace cuda {
WORKBENCH_KERNELS(WORKBENCH_KERNEL_DECLARATION)
constexpr Kernels kTable{"emulated cuda", WORKBENCH_KERNELS(WORKBENCH_KERNEL_ENTRY)};
} // namespace cuda

namespace {

/// In the host's memory the operator has cut the tokens into runs of consecutive positions; on a GPU the
/// kernel does that, from the positions of all. Caches are for the CPU alone.
void attention(const AttentionCall& call) {
    const AttentionSpan& first = call.spans.front();
    if (first.blocks != nullptr || first.keys != first.queries)
        return cpuKernels().attention(call);
    std::vector<int64_t> positions;
    for (const AttentionSpan& run : call.spans)
        for (int64_t token = 0; token < run.queries; ++token)
            positions.push_back(run.firstPosition + token);
    AttentionCall whole = call;
    whole.spans.resize(1);
    whole.spans[0].queries = whole.spans[0].keys = static_cast<int64_t>(positions.size());
    whole.devicePositions = positions.data();
    cuda::attention(whole);
}

constexpr Kernels withAttention(Kernels kernels) {
    kernels.attention = attention;
    return kernels;
}

constexpr Kernels kEmulated = withAttention(cuda::kTable);

} // namespace

/// Stands before the library's own definition: a program's symbols come first.
const Kernels& kernelsFor(const char*, const at::Tensor&) {
    return kEmulated;
}

namespace testing {

const Kernels* emulatedCudaKernels() {
    return &kEmulated;
}

} // namespace testing
} // namespace workbench::ops
