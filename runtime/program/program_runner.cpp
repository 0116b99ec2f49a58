#include "runtime/program/program_runner.h"

#include "runtime/program/torch_edge.h"

#include <type_traits>

namespace workbench {

static_assert(std::is_same_v<BlockId, std::int32_t>); // as ops::PagedSequence has it

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::create(LanguageModel& model,
                                                             const PagedKvOptions& options) {
    auto made = cachedModel(model, options);
    if (!made)
        return made.error();
    return std::unique_ptr<ProgramRunner>(new ProgramRunner(std::move(made->model), std::move(made->cache)));
}

Result<std::span<const float>> ProgramRunner::run(const StepPlan& plan, const std::atomic<bool>& abort) {
    PagedRun paged{.cache = &m_cache, .sequences = {}};
    paged.sequences.resize(m_cache.layout().windows.size());
    for (const StepSequence& sequence : plan.sequences)
        for (std::size_t group = 0; group < paged.sequences.size(); ++group)
            paged.sequences[group].push_back({sequence.firstToken, sequence.tokens, sequence.firstPosition,
                                              sequence.tables[group].data(),
                                              std::ssize(sequence.tables[group])});
    auto logits = m_model.logits({plan.tokens, plan.positions, plan.rows},
                                 {.paged = &paged, .cancel = &abort, .nodeSeconds = m_nodeSeconds});
    if (!logits)
        return logits.error();
    m_logits = std::move(*logits);
    return std::span(m_logits.const_data_ptr<float>(), static_cast<std::size_t>(m_logits.numel()));
}

} // namespace workbench
