#pragma once

#include "runtime/engine/model_runner.h"
#include "runtime/program/language_model.h"
#include "runtime/program/paged_kv_cache.h"

#include <memory>

namespace workbench {

/// Runs the engine's steps on a language model over a paged KV cache.
class ProgramRunner : public ModelRunner {
public:
    /// Shares the weights of `model`. An Error for a model that cannot decode with a KV cache.
    static Result<std::unique_ptr<ProgramRunner>> create(LanguageModel& model, const PagedKvOptions& options);

    /// Of the allocator that hands out the runner's blocks.
    BlockLayout layout() const { return m_cache.layout(); }

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return m_model.vocabulary(); }
    /// Adds the seconds of each node of the graph, by NodeId, from the next step on; null: no more.
    void timeNodes(std::vector<double>* seconds) { m_nodeSeconds = seconds; }
    const Graph& graph() const { return m_model.program().graph(); }

private:
    ProgramRunner(LanguageModel model, PagedKvCache cache)
        : m_model(std::move(model)), m_cache(std::move(cache)) {}

    LanguageModel m_model;
    PagedKvCache m_cache;
    std::vector<double>* m_nodeSeconds = nullptr;
    at::Tensor m_logits; ///< of the latest step, f32 [rows, vocabulary]
};

} // namespace workbench
