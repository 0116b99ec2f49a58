#include "runtime/engine/scheduler.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace workbench {

Result<Scheduler> Scheduler::create(SchedulerLimits limits, BlockLayout layout) {
    if (limits.stepTokens < 1 || limits.runningRequests < 1 || limits.contextTokens < 1)
        return Error{ErrorCode::badInput,
                     "The engine needs at least one token per step, one running request and a context of one "
                     "token.",
                     {}};
    auto blocks = BlockAllocator::create(std::move(layout));
    if (!blocks)
        return blocks.error();
    // Each running request can have its token in every step.
    limits.runningRequests = std::min(limits.runningRequests, limits.stepTokens);
    return Scheduler(limits, std::move(*blocks));
}

Status Scheduler::refusal(std::int64_t promptTokens, std::int64_t maxTokens) const {
    const auto refuse = [](std::string message) {
        return Error{ErrorCode::badInput, std::move(message), {}};
    };
    if (promptTokens < 1)
        return refuse("The prompt is empty: it must have at least one token.");
    // maxTokens may be the largest number: no sum with it.
    const std::string wanted = "The prompt of " + std::to_string(promptTokens) + " tokens and up to " +
                               std::to_string(maxTokens) + " new ones do not fit into ";
    const std::int64_t context = m_limits.contextTokens;
    if (context != BlockAllocator::kUnlimited &&
        (promptTokens > context || maxTokens > context - promptTokens))
        return refuse(wanted + "the model's context of " + std::to_string(context) +
                      " tokens: shorten the prompt or ask for fewer.");
    // The last token is never stored.
    const std::int64_t capacity = m_blocks.capacityTokens(m_limits.stepTokens);
    if (promptTokens > capacity || maxTokens - 1 > capacity - promptTokens)
        return refuse(
            wanted + "the KV cache, which holds " + std::to_string(capacity) +
            " tokens of one request: shorten the prompt, ask for fewer, or give the cache more memory.");
    return Ok{};
}

void Scheduler::add(RequestId id, std::vector<std::int64_t> prompt) {
    m_sequences[id].tokens = std::move(prompt);
    m_waiting.insert(id);
}

StepPlan Scheduler::plan() {
    StepPlan plan;
    const std::int64_t preemptions = m_counts.preemptions;
    planRunning(plan);
    // Who lost its blocks just now must not take them back from the one that needed them.
    if (m_counts.preemptions == preemptions || plan.empty())
        planWaiting(plan);
    if (plan.empty() && hasWork()) // a request that does not fit alone was let in, and would never end
        __builtin_trap();
    return plan;
}

void Scheduler::planRunning(StepPlan& plan) {
    for (auto next = m_running.begin(); next != m_running.end();) {
        const RequestId id = *next;
        Sequence& sequence = at(id);
        const std::int64_t budget = budgetLeft(plan) - decodingAfter(id);
        const std::int64_t tokens = std::min(sequence.pending(), budget);
        if (tokens > 0 && makeRoom(id, sequence.computed + tokens))
            addTo(plan, id, tokens);
        next = m_running.upper_bound(id); // this one or later ones may be gone
    }
}

/// Requests behind `id` that wait for one token only: that much of the budget is theirs.
std::int64_t Scheduler::decodingAfter(RequestId id) const {
    return std::count_if(m_running.upper_bound(id), m_running.end(),
                         [&](RequestId other) { return m_sequences.at(other).pending() == 1; });
}

/// False when `id` itself was the latest arrival and had to go.
bool Scheduler::makeRoom(RequestId id, std::int64_t length) {
    Sequence& sequence = at(id);
    while (!m_blocks.grow(sequence.blocks, sequence.computed, length)) {
        const RequestId latest = *m_running.rbegin();
        preempt(latest);
        if (latest == id)
            return false;
    }
    return true;
}

void Scheduler::preempt(RequestId id) {
    Sequence& sequence = at(id);
    m_blocks.release(sequence.blocks);
    sequence.computed = 0;
    m_running.erase(id);
    m_waiting.insert(id);
    ++m_counts.preemptions;
}

void Scheduler::planWaiting(StepPlan& plan) {
    while (!m_waiting.empty() && static_cast<std::int64_t>(m_running.size()) < m_limits.runningRequests) {
        const std::int64_t budget = budgetLeft(plan);
        // In order of arrival: a small request never overtakes a large one that waits for blocks.
        if (budget <= 0 || !start(*m_waiting.begin(), budget, plan))
            return;
    }
}

bool Scheduler::start(RequestId id, std::int64_t budget, StepPlan& plan) {
    Sequence& sequence = at(id);
    sequence.computed = sequence.reused = m_blocks.reusePrefix(sequence.blocks, sequence.tokens);
    const std::int64_t tokens = std::min(sequence.pending(), budget);
    // Beside others a request starts only when there is room for all of it, or it would soon be preempted.
    // Alone it starts in any case: it fits, if only because its windows free blocks on the way.
    const std::int64_t length = m_running.empty() ? sequence.computed + tokens : sequence.length();
    const bool hasRoom =
        m_blocks.missingBlocks(sequence.blocks, sequence.computed, length) <= m_blocks.pool().available();
    if (!hasRoom || !m_blocks.grow(sequence.blocks, sequence.computed, sequence.computed + tokens)) {
        m_blocks.release(sequence.blocks);
        sequence.computed = sequence.reused = 0;
        return false;
    }
    m_counts.reusedTokens += sequence.reused;
    m_waiting.erase(id);
    m_running.insert(id);
    addTo(plan, id, tokens);
    return true;
}

void Scheduler::addTo(StepPlan& plan, RequestId id, std::int64_t tokens) {
    const Sequence& sequence = at(id);
    StepSequence step{.id = id,
                      .firstToken = std::ssize(plan.tokens),
                      .tokens = tokens,
                      .firstPosition = sequence.computed,
                      .row = -1,
                      .tables = sequence.blocks.tables};
    for (std::int64_t i = 0; i < tokens; ++i) {
        plan.tokens.push_back(sequence.tokens[static_cast<std::size_t>(sequence.computed + i)]);
        plan.positions.push_back(sequence.computed + i);
    }
    if (tokens == sequence.pending()) {
        step.row = std::ssize(plan.rows);
        plan.rows.push_back(std::ssize(plan.tokens) - 1);
    }
    plan.sequences.push_back(step);
}

std::int64_t Scheduler::budgetLeft(const StepPlan& plan) const {
    return m_limits.stepTokens - std::ssize(plan.tokens);
}

void Scheduler::commit(const StepPlan& plan) {
    for (const StepSequence& step : plan.sequences) {
        Sequence& sequence = at(step.id);
        sequence.computed = step.firstPosition + step.tokens;
        m_blocks.publish(sequence.blocks, sequence.tokens, sequence.computed);
        m_counts.computedTokens += step.tokens;
    }
}

void Scheduler::append(RequestId id, std::int64_t token) {
    at(id).tokens.push_back(token);
}

void Scheduler::remove(RequestId id) {
    const auto place = m_sequences.find(id);
    if (place == m_sequences.end())
        return;
    m_blocks.release(place->second.blocks);
    m_sequences.erase(place);
    m_running.erase(id);
    m_waiting.erase(id);
}

std::int64_t Scheduler::reusedTokens(RequestId id) const {
    return m_sequences.at(id).reused;
}

SchedulerCounts Scheduler::counts() const {
    SchedulerCounts counts = m_counts;
    counts.waiting = std::ssize(m_waiting);
    counts.running = std::ssize(m_running);
    counts.blocks = m_blocks.pool().size();
    counts.freeBlocks = m_blocks.pool().available();
    counts.rememberedBlocks = m_blocks.pool().remembered();
    return counts;
}

} // namespace workbench
