#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace workbench {

/// Device work that was recorded once and can be done again without its host side: a CUDA graph. The tensors
/// that it reads and writes stay where they were.
class RecordedStep {
public:
    virtual ~RecordedStep() = default;
    /// Queues the work on the current stream.
    virtual void replay() = 0;
};

/// Records what `step` queues on the current stream, which must not be the device's default one, without
/// doing it. `step` must not wait for the device; throws as LibTorch does where it does so.
using Recorder =
    std::function<std::unique_ptr<RecordedStep>(c10::Device device, const std::function<void()>& step)>;

/// The recorder of a device; empty for one that records nothing, and in a build without CUDA.
Recorder recorderOf(c10::Device device);

} // namespace workbench
