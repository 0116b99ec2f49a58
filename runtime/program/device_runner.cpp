#include "runtime/program/device_runner.h"

#include "runtime/program/torch_edge.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace workbench {
namespace {

constexpr std::int64_t kFewestKeys = 512; ///< what the smallest recording covers

/// 1, 2, 4, 8, then every multiple of 8: at most seven tokens of a step are for nothing.
std::int64_t roundedTokens(std::int64_t tokens) {
    return tokens <= 8 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(tokens)))
                       : (tokens + 7) / 8 * 8;
}

/// Parts of keys that a token does not have end at once, so that twice as many cost little.
std::int64_t roundedKeys(std::int64_t keys) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(kFewestKeys, keys))));
}

std::optional<c10::Stream> newStream(c10::Device device) {
    if (device.is_cpu())
        return std::nullopt;
    return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

/// The weights' way to the device, which was queued on the stream of this thread. Not all of the device:
/// another runner may be recording on a stream of its own, which a wait for everything would break off.
void waitForWeights(c10::Device device) {
    if (!device.is_cpu())
        c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

} // namespace

Result<std::unique_ptr<DeviceRunner>> DeviceRunner::create(LanguageModel& model, PagedKvOptions options,
                                                           Recorder recorder) {
    const c10::Device device = model.program().placement().device;
    options.device = device;
    options.spareBlocks = 1;
    auto made = cachedModel(model, options);
    if (!made)
        return made.error();
    return guarded("Preparing the device", [&] {
        waitForWeights(device);
        return Result(std::unique_ptr<DeviceRunner>(new DeviceRunner(
            std::move(made->model), std::move(made->cache), std::move(recorder), newStream(device))));
    });
}

std::string DeviceRunner::note() const {
    const std::lock_guard lock(m_mutex);
    return m_refusal.empty()
               ? std::string()
               : "Decode steps are not recorded as a graph of the device, but queued one by one: " +
                     m_refusal;
}

Result<std::span<const float>> DeviceRunner::run(const StepPlan& plan, const std::atomic<bool>& abort) {
    return guarded("Running the model", [&]() -> Result<std::span<const float>> {
        const c10::InferenceMode inference;
        const c10::OptionalStreamGuard stream(m_stream);
        const bool records = m_recorder && m_refusal.empty() && DecodeStep::fits(plan) &&
                             std::ssize(plan.tokens) <= kMostRecordedTokens;
        auto logits = records ? runDecode(plan, abort) : runPlan(plan, abort);
        if (!logits) {
            waitForQueued(); // the next step writes what this one may still read
            return logits.error();
        }
        return onHost(*logits);
    });
}

void DeviceRunner::waitForQueued() const {
    if (m_stream)
        m_stream->synchronize();
}

/// Waits for the step. Into memory that the device writes by itself, at the full speed of the bus.
std::span<const float> DeviceRunner::onHost(const at::Tensor& logits) {
    const std::int64_t count = logits.numel();
    if (!m_logits.defined() || m_logits.numel() < count)
        m_logits = at::empty({count}, at::TensorOptions(at::kFloat).pinned_memory(m_stream.has_value()));
    m_logits.narrow(0, 0, count).view(logits.sizes()).copy_(logits, /*non_blocking=*/true);
    waitForQueued();
    return std::span(m_logits.const_data_ptr<float>(), static_cast<std::size_t>(count));
}

Result<at::Tensor> DeviceRunner::runPlan(const StepPlan& plan, const std::atomic<bool>& abort) {
    PagedRun paged{.cache = &m_cache,
                   .sequences = {},
                   .tables = tablesFor(plan, m_cache, m_model.program().placement().device)};
    return m_model.logitsThere({plan.tokens, plan.positions, plan.rows}, {.paged = &paged, .cancel = &abort});
}

DeviceRunner::Decode& DeviceRunner::decodeFor(const StepPlan& plan) {
    const std::pair size{roundedTokens(std::ssize(plan.tokens)), roundedKeys(mostKeys(plan))};
    auto known = m_decodes.find(size);
    if (known == m_decodes.end())
        known = m_decodes
                    .emplace(size, Decode{.step = DecodeStep(size.first, size.second, m_cache,
                                                             m_model.program().placement().device),
                                          .recorded = nullptr})
                    .first;
    return known->second;
}

Result<at::Tensor> DeviceRunner::runStep(Decode& decode, const std::atomic<bool>* abort) {
    DecodeStep& step = decode.step;
    return m_model.logitsOf(step.tokens(), step.positions(), step.rows(),
                            {.paged = &step.run(), .cancel = abort});
}

Result<at::Tensor> DeviceRunner::runDecode(const StepPlan& plan, const std::atomic<bool>& abort) {
    if (auto checked = m_model.checkBatch({plan.tokens, plan.positions, plan.rows}); !checked)
        return checked.error();
    Decode& decode = decodeFor(plan);
    decode.step.fill(plan);
    const auto rows = std::ssize(plan.rows);
    if (decode.ran && !decode.recorded)
        record(decode);
    if (decode.recorded) {
        decode.recorded->replay();
        ++m_replays;
        return logitsFor(decode).narrow(0, 0, rows);
    }
    auto logits = runStep(decode, &abort);
    if (!logits)
        return logits;
    decode.ran = true;
    return logits->narrow(0, 0, rows);
}

/// One tensor for all recordings of so many tokens, however many keys they are for.
at::Tensor& DeviceRunner::logitsFor(const Decode& decode) {
    const std::int64_t tokens = decode.step.rows().size(0);
    at::Tensor& logits = m_decodeLogits[tokens];
    if (!logits.defined())
        logits = at::empty({tokens, vocabulary()}, decode.step.rows().options().dtype(at::kFloat));
    return logits;
}

/// A step that cannot be recorded is run node by node, and so are all others from then on; note() tells.
void DeviceRunner::record(Decode& decode) {
    const c10::Device device = m_model.program().placement().device;
    at::Tensor& target = logitsFor(decode); // made outside of the recording: it outlives it
    auto recorded = guarded("Recording a decode step", [&] {
        return Result<std::unique_ptr<RecordedStep>>(m_recorder(device, [this, &decode, &target] {
            auto logits = runStep(decode, nullptr);
            if (!logits) {
                decode.failure = logits.error();
                throw std::runtime_error(logits.error().message); // a recorder has to know
            }
            target.copy_(*logits);
        }));
    });
    if (!recorded) {
        const std::lock_guard lock(m_mutex);
        m_refusal = decode.failure.value_or(recorded.error()).message;
        return;
    }
    decode.weights = m_model.program().storages();
    decode.recorded = std::move(*recorded);
    ++m_recorded;
}

} // namespace workbench
