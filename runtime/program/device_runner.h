#pragma once

#include "runtime/program/cached_runner.h"
#include "runtime/program/device_step.h"
#include "runtime/program/recorded_step.h"

#include <c10/core/Storage.h>
#include <c10/core/Stream.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace workbench {

/// Runs the engine's steps on a device that queues its work, a GPU: values and cache lie there, the host only
/// sends tokens and tables and gets logits back. A step that only decodes is recorded when one of its size
/// comes for the second time, and replayed from then on: sizes are rounded up to few ones, so that few
/// recordings serve all.
class DeviceRunner : public CachedRunner {
public:
    /// Steps with more tokens are not recorded: there the device, not the host, sets the pace.
    static constexpr std::int64_t kMostRecordedTokens = 256;

    /// Without a recorder every step is run node by node.
    static Result<std::unique_ptr<DeviceRunner>> create(LanguageModel& model, PagedKvOptions options,
                                                        Recorder recorder);

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return m_model.vocabulary(); }
    BlockLayout layout() const override { return m_cache.layout(); }
    const Graph& graph() const override { return m_model.program().graph(); }
    void timeNodes(std::vector<double>*) override {}
    std::string note() const override;

    ~DeviceRunner() override { waitForQueued(); }

    std::int64_t recordedSteps() const { return m_recorded; }
    std::int64_t replays() const { return m_replays; }

private:
    /// Decode steps of one size.
    struct Decode {
        DecodeStep step;
        std::unique_ptr<RecordedStep> recorded;
        std::vector<c10::Storage> weights; ///< that it reads: loading another program may move them elsewhere
        bool ran = false; ///< a first run makes what libraries set up once, which must not be recorded
        std::optional<Error> failure; ///< of recording it
    };
    DeviceRunner(LanguageModel model, PagedKvCache cache, Recorder recorder,
                 std::optional<c10::Stream> stream)
        : m_model(std::move(model)), m_cache(std::move(cache)), m_recorder(std::move(recorder)),
          m_stream(stream) {}

    Result<at::Tensor> runPlan(const StepPlan& plan, const std::atomic<bool>& abort);
    Result<at::Tensor> runDecode(const StepPlan& plan, const std::atomic<bool>& abort);
    Result<at::Tensor> runStep(Decode& decode, const std::atomic<bool>* abort);
    Decode& decodeFor(const StepPlan& plan);
    void record(Decode& decode);
    at::Tensor& logitsFor(const Decode& decode);
    void waitForQueued() const;
    std::span<const float> onHost(const at::Tensor& logits);

    LanguageModel m_model;
    PagedKvCache m_cache;
    Recorder m_recorder;
    /// Of all steps: what a device's default one does cannot be recorded. None on the CPU.
    std::optional<c10::Stream> m_stream;
    std::map<std::pair<std::int64_t, std::int64_t>, Decode> m_decodes; ///< by tokens and keys
    std::map<std::int64_t, at::Tensor> m_decodeLogits; ///< f32 [tokens, vocabulary], where replays write them
    std::int64_t m_recorded = 0;
    std::int64_t m_replays = 0;
    mutable std::mutex m_mutex; ///< of m_refusal
    std::string m_refusal;      ///< why nothing is recorded any more
    at::Tensor m_logits;        ///< of the latest step, on the host: f32, room for [rows, vocabulary]
};

} // namespace workbench
