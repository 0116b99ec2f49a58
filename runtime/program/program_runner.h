#pragma once

#include "runtime/program/cached_runner.h"

#include <memory>

namespace workbench {

/// Runs the engine's steps on the CPU.
class ProgramRunner : public CachedRunner {
public:
    /// Shares the weights of `model`. An Error for a model that cannot decode with a KV cache.
    static Result<std::unique_ptr<ProgramRunner>> create(LanguageModel& model, const PagedKvOptions& options);

    BlockLayout layout() const override { return m_cache.layout(); }

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return m_model.vocabulary(); }
    void timeNodes(std::vector<double>* seconds) override { m_nodeSeconds = seconds; }
    const Graph& graph() const override { return m_model.program().graph(); }

private:
    ProgramRunner(LanguageModel model, PagedKvCache cache)
        : m_model(std::move(model)), m_cache(std::move(cache)) {}

    LanguageModel m_model;
    PagedKvCache m_cache;
    std::vector<double>* m_nodeSeconds = nullptr;
    at::Tensor m_logits; ///< of the latest step, f32 [rows, vocabulary]
};

} // namespace workbench
