#include "runtime/program/recorded_step.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

namespace workbench {
namespace {

class CudaGraph : public RecordedStep {
public:
    CudaGraph(c10::Device device, at::cuda::MempoolId_t pool, const std::function<void()>& step) {
        // Only this thread's calls are watched: another engine of the process may allocate meanwhile.
        m_graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
        try {
            step();
            m_graph.capture_end();
        } catch (...) {
            abandon(device, pool);
            throw; // the first failure is the one to tell
        }
    }
    void replay() override { m_graph.replay(); }

private:
    /// A capture that failed leaves the stream in capture, and the allocators with a filter of this graph,
    /// which goes: capture_end() undoes both only where the capture is whole.
    void abandon(c10::Device device, at::cuda::MempoolId_t pool) noexcept {
        const auto tried = [](const auto& undo) {
            try {
                undo();
                return true;
            } catch (...) {
                return false;
            }
        };
        if (tried([&] { m_graph.capture_end(); }))
            return;
        tried([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device.index(), pool); });
        tried([&] { c10::cuda::CUDACachingAllocator::releasePool(device.index(), pool); });
        tried([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool); });
    }

    at::cuda::CUDAGraph m_graph;
};

/// Values of the steps of a recorder lie in one pool: they are replayed one after another.
Recorder recorderWithPool() {
    return [pool = at::cuda::graph_pool_handle()](c10::Device device, const std::function<void()>& step) {
        return std::make_unique<CudaGraph>(device, pool, step);
    };
}

} // namespace

Recorder recorderOf(c10::Device device) {
    return device.is_cuda() ? recorderWithPool() : Recorder();
}

} // namespace workbench
