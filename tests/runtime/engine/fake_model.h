#pragma once

#include "runtime/engine/block_allocator.h"
#include "runtime/engine/model_runner.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace workbench::testing {

/// A model whose next token depends on every token that a layer group sees, read back through the block
/// tables: a wrong block, position or window changes what comes out, or is an Error.
class FakeModel : public ModelRunner {
public:
    static constexpr std::int64_t kVocabulary = 24;

    explicit FakeModel(BlockLayout layout);

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return kVocabulary; }

    /// The logits after `history`, without blocks and batches.
    static std::vector<float> logitsAfter(std::span<const std::int64_t> history,
                                          const std::vector<std::int64_t>& windows);

    /// Called at the start of every run, to fail or to wait.
    std::function<Status(const StepPlan&, const std::atomic<bool>& abort)> onRun;

private:
    struct Slot {
        std::size_t group = 0;
        std::int64_t position = -1;
        std::int64_t token = -1;
    };
    Slot& slotOf(const StepSequence& sequence, std::size_t group, std::int64_t position);
    Status store(const StepPlan& plan, const StepSequence& sequence);
    Result<std::uint64_t> hashOf(const StepSequence& sequence, std::size_t group, std::int64_t query);

    BlockLayout m_layout;
    std::vector<Slot> m_slots; ///< [blocks][blockTokens]
    std::vector<float> m_logits;
};

} // namespace workbench::testing
