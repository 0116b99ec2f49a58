#pragma once

#include "runtime/engine/block_allocator.h"
#include "runtime/engine/step_plan.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace workbench {

struct SchedulerLimits {
    std::int64_t stepTokens = 512;                           ///< computed in one step at most
    std::int64_t runningRequests = 64;                       ///< computed side by side at most
    std::int64_t contextTokens = BlockAllocator::kUnlimited; ///< the longest sequence that the model takes
};

struct SchedulerCounts {
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t preemptions = 0;    ///< since the start
    std::int64_t reusedTokens = 0;   ///< since the start: not computed, because their blocks were found
    std::int64_t computedTokens = 0; ///< since the start, those computed again included
    std::int64_t blocks = 0;
    std::int64_t freeBlocks = 0;       ///< remembered ones included
    std::int64_t rememberedBlocks = 0; ///< free, with a prefix that can still be reused
};

/// Decides what runs in each step. Requests that have come to their text take one token each; what is left of
/// the step's budget goes to prompts, in order of arrival and cut where the budget ends. When blocks run out,
/// the latest arrival gives up its blocks and is computed again later: the earliest always gets on, and since
/// no request is taken that does not fit alone, all end. One thread at a time; refusal() from any.
class Scheduler {
public:
    static Result<Scheduler> create(SchedulerLimits limits, BlockLayout layout);

    /// The Error of a request that could never run: no prompt, or more tokens than the context or the KV
    /// cache can hold.
    Status refusal(std::int64_t promptTokens, std::int64_t maxTokens) const;

    /// `id` must be larger than all before; the request must have passed refusal().
    void add(RequestId id, std::vector<std::int64_t> prompt);
    /// Empty only when no request is left.
    StepPlan plan();
    /// The plan's keys and values are stored. Not called for a step that failed: it can be planned again.
    void commit(const StepPlan& plan);
    /// The next token of a running sequence whose tokens are all computed.
    void append(RequestId id, std::int64_t token);
    void remove(RequestId id); ///< waiting or running; one that is gone already is ignored

    bool hasWork() const { return !m_sequences.empty(); }
    std::int64_t reusedTokens(RequestId id) const; ///< of the request's last start
    SchedulerCounts counts() const;
    const BlockAllocator& blocks() const { return m_blocks; }

private:
    struct Sequence {
        std::vector<std::int64_t> tokens; ///< prompt and text so far
        std::int64_t computed = 0;        ///< leading tokens whose keys and values are stored
        std::int64_t reused = 0;
        SequenceBlocks blocks;

        std::int64_t length() const { return static_cast<std::int64_t>(tokens.size()); }
        std::int64_t pending() const { return length() - computed; }
    };

    Scheduler(SchedulerLimits limits, BlockAllocator blocks)
        : m_limits(limits), m_blocks(std::move(blocks)) {}

    Sequence& at(RequestId id) { return m_sequences.at(id); }
    std::int64_t decodingAfter(RequestId id) const;
    bool makeRoom(RequestId id, std::int64_t length);
    void preempt(RequestId id);
    void planRunning(StepPlan& plan);
    void planWaiting(StepPlan& plan);
    bool start(RequestId id, std::int64_t budget, StepPlan& plan);
    void addTo(StepPlan& plan, RequestId id, std::int64_t tokens);
    std::int64_t budgetLeft(const StepPlan& plan) const;

    SchedulerLimits m_limits;
    BlockAllocator m_blocks;
    std::map<RequestId, Sequence> m_sequences;
    std::set<RequestId> m_running;
    std::set<RequestId> m_waiting;
    SchedulerCounts m_counts;
};

} // namespace workbench
