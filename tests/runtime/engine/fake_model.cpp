#include "fake_model.h"

#include <algorithm>
#include <set>
#include <string>

namespace workbench::testing {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29);
}

Error wrong(const std::string& message) {
    return Error{ErrorCode::runtimeFailed, message, {}};
}

std::int64_t firstSeen(std::int64_t window, std::int64_t query) {
    return window == 0 ? 0 : std::max<std::int64_t>(0, query - window + 1);
}

void appendLogits(std::uint64_t hash, std::vector<float>& logits) {
    for (std::int64_t token = 0; token < FakeModel::kVocabulary; ++token)
        logits.push_back(static_cast<float>(mix(hash, static_cast<std::uint64_t>(token)) % 4096) / 1024);
}

} // namespace

FakeModel::FakeModel(BlockLayout layout)
    : m_layout(std::move(layout)), m_slots(static_cast<std::size_t>(m_layout.blocks * m_layout.blockTokens)) {
}

std::vector<float> FakeModel::logitsAfter(std::span<const std::int64_t> history,
                                          const std::vector<std::int64_t>& windows) {
    const std::int64_t query = std::ssize(history) - 1;
    std::uint64_t all = 1;
    for (const std::int64_t window : windows) {
        std::uint64_t hash = 1;
        for (std::int64_t position = firstSeen(window, query); position <= query; ++position)
            hash = mix(hash, static_cast<std::uint64_t>(history[static_cast<std::size_t>(position)]));
        all = mix(all, hash);
    }
    std::vector<float> logits;
    appendLogits(all, logits);
    return logits;
}

FakeModel::Slot& FakeModel::slotOf(const StepSequence& sequence, std::size_t group, std::int64_t position) {
    const BlockId block = sequence.tables[group][static_cast<std::size_t>(position / m_layout.blockTokens)];
    return m_slots.at(
        static_cast<std::size_t>(block * m_layout.blockTokens + position % m_layout.blockTokens));
}

Status FakeModel::store(const StepPlan& plan, const StepSequence& sequence) {
    for (std::int64_t i = 0; i < sequence.tokens; ++i) {
        const auto index = static_cast<std::size_t>(sequence.firstToken + i);
        const std::int64_t position = sequence.firstPosition + i;
        if (plan.positions[index] != position)
            return wrong("positions are not consecutive");
        for (std::size_t group = 0; group < m_layout.windows.size(); ++group)
            slotOf(sequence, group, position) = {group, position, plan.tokens[index]};
    }
    return Ok{};
}

Result<std::uint64_t> FakeModel::hashOf(const StepSequence& sequence, std::size_t group, std::int64_t query) {
    std::uint64_t hash = 1;
    for (std::int64_t at = firstSeen(m_layout.windows[group], query); at <= query; ++at) {
        const Slot& slot = slotOf(sequence, group, at);
        if (slot.group != group || slot.position != at)
            return wrong("request " + std::to_string(sequence.id) + " reads position " +
                         std::to_string(slot.position) + " of group " + std::to_string(slot.group) +
                         " at position " + std::to_string(at) + " of group " + std::to_string(group));
        hash = mix(hash, static_cast<std::uint64_t>(slot.token));
    }
    return hash;
}

Result<std::span<const float>> FakeModel::run(const StepPlan& plan, const std::atomic<bool>& abort) {
    if (onRun)
        if (auto fine = onRun(plan, abort); !fine)
            return fine.error();
    // All tokens are stored before any is read, as in a layer: a block that two requests write to shows.
    for (const StepSequence& sequence : plan.sequences)
        if (auto stored = store(plan, sequence); !stored)
            return stored.error();
    m_logits.clear();
    for (const StepSequence& sequence : plan.sequences) {
        if (sequence.row < 0)
            continue;
        const std::int64_t last = sequence.firstToken + sequence.tokens - 1;
        if (plan.rows.at(static_cast<std::size_t>(sequence.row)) != last)
            return wrong("the row of logits is not the sequence's last token");
        std::uint64_t all = 1;
        for (std::size_t group = 0; group < m_layout.windows.size(); ++group) {
            auto hash = hashOf(sequence, group, sequence.firstPosition + sequence.tokens - 1);
            if (!hash)
                return hash.error();
            all = mix(all, *hash);
        }
        appendLogits(all, m_logits);
    }
    return std::span<const float>(m_logits);
}

} // namespace workbench::testing
