#pragma once

#include "runtime/engine/model_runner.h"
#include "runtime/program/language_model.h"
#include "runtime/program/paged_kv_cache.h"

#include <memory>

namespace workbench {

/// Runs the engine's steps on a language model over a paged KV cache.
class ProgramRunner : public ModelRunner {
public:
    /// `model` must outlive the runner and be used by nobody else while a step runs. An Error for a model
    /// that cannot decode with a KV cache.
    static Result<std::unique_ptr<ProgramRunner>> create(LanguageModel& model, const PagedKvOptions& options);

    /// Of the allocator that hands out the runner's blocks.
    BlockLayout layout() const { return m_cache.layout(); }

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return m_model.vocabulary(); }

private:
    ProgramRunner(LanguageModel& model, PagedKvCache cache) : m_model(model), m_cache(std::move(cache)) {}

    LanguageModel& m_model;
    PagedKvCache m_cache;
    at::Tensor m_logits; ///< of the latest step, f32 [rows, vocabulary]
};

} // namespace workbench
