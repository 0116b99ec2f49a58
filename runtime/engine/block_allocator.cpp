#include "runtime/engine/block_allocator.h"

#include "core/support/sha256.h"

#include <algorithm>
#include <limits>

namespace workbench {
namespace {

std::int64_t divideUp(std::int64_t count, std::int64_t step) {
    return (count + step - 1) / step;
}

/// A block is known by all tokens up to its end. SHA-256, because two prompts with one key would read each
/// other's text; a prompt can be chosen to collide under a weaker hash.
std::string keyOf(const std::string& parent, std::span<const std::int64_t> tokens) {
    Sha256 hash;
    hash.update(parent);
    hash.update({reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()});
    return hash.finishHex();
}

/// Groups store different layers' keys under the same tokens.
std::string groupKey(std::size_t group, const std::string& key) {
    return std::to_string(group) + ":" + key;
}

} // namespace

Result<BlockAllocator> BlockAllocator::create(BlockLayout layout) {
    const auto refuse = [](std::string message) {
        return Error{ErrorCode::badInput, std::move(message), {}};
    };
    if (layout.blockTokens < 1)
        return refuse("A block of the KV cache must hold at least one token.");
    if (layout.windows.empty() || std::ranges::any_of(layout.windows, [](auto w) { return w < 0; }))
        return refuse("The KV cache needs at least one layer group, and no window may be negative.");
    if (layout.blocks < 1 || layout.blocks > std::numeric_limits<BlockId>::max())
        return refuse("The KV cache needs between one and 2^31 - 1 blocks, not " +
                      std::to_string(layout.blocks) + ".");
    return BlockAllocator(std::move(layout));
}

/// The first block of which a token from `computed` on sees something.
std::int64_t BlockAllocator::firstNeeded(std::size_t group, std::int64_t computed) const {
    const std::int64_t window = m_layout.windows[group];
    return window == 0 ? 0 : std::max<std::int64_t>(0, computed - window + 1) / m_layout.blockTokens;
}

void BlockAllocator::addKeys(SequenceBlocks& sequence, std::span<const std::int64_t> tokens,
                             std::int64_t blocks) const {
    const auto size = static_cast<std::size_t>(m_layout.blockTokens);
    for (std::size_t block = sequence.keys.size(); block < static_cast<std::size_t>(blocks); ++block)
        sequence.keys.push_back(
            keyOf(block == 0 ? std::string() : sequence.keys.back(), tokens.subspan(block * size, size)));
}

/// Whether all that the token after the first `blocks` blocks sees can be found.
bool BlockAllocator::isStored(const SequenceBlocks& sequence, std::int64_t blocks) const {
    for (std::size_t group = 0; group < m_layout.windows.size(); ++group)
        for (std::int64_t block = firstNeeded(group, blocks * m_layout.blockTokens); block < blocks; ++block)
            if (!m_pool.find(groupKey(group, sequence.keys[static_cast<std::size_t>(block)])))
                return false;
    return true;
}

std::int64_t BlockAllocator::longestStored(const SequenceBlocks& sequence, std::int64_t limit) const {
    // Groups that see everything need every block: nothing beyond their first gap can be used.
    for (std::size_t group = 0; group < m_layout.windows.size(); ++group)
        for (std::int64_t block = 0; m_layout.windows[group] == 0 && block < limit; ++block)
            if (!m_pool.find(groupKey(group, sequence.keys[static_cast<std::size_t>(block)])))
                limit = block;
    while (limit > 0 && !isStored(sequence, limit))
        --limit;
    return limit;
}

std::int64_t BlockAllocator::reusePrefix(SequenceBlocks& sequence, std::span<const std::int64_t> tokens) {
    if (!m_layout.reusePrefixes || tokens.empty())
        return 0;
    // The last token is computed in any case: its logits are wanted.
    const auto limit = static_cast<std::int64_t>(tokens.size() - 1) / m_layout.blockTokens;
    addKeys(sequence, tokens, limit);
    const std::int64_t blocks = longestStored(sequence, limit);
    if (blocks == 0)
        return 0;
    sequence.tables.assign(m_layout.windows.size(), {});
    for (std::size_t group = 0; group < sequence.tables.size(); ++group) {
        const std::int64_t first = firstNeeded(group, blocks * m_layout.blockTokens);
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::string key = groupKey(group, sequence.keys[static_cast<std::size_t>(block)]);
            sequence.tables[group].push_back(block < first ? kNoBlock : *m_pool.reuse(key));
        }
    }
    sequence.published = blocks;
    return blocks * m_layout.blockTokens;
}

bool BlockAllocator::grow(SequenceBlocks& sequence, std::int64_t computed, std::int64_t length) {
    sequence.tables.resize(m_layout.windows.size());
    const auto wanted = static_cast<std::size_t>(divideUp(length, m_layout.blockTokens));
    // All groups let go before any takes: what one no longer needs is what another lacks.
    for (std::size_t group = 0; group < sequence.tables.size(); ++group) {
        auto& table = sequence.tables[group];
        const auto first = std::min(static_cast<std::size_t>(firstNeeded(group, computed)), table.size());
        for (std::size_t block = first; block-- > 0 && table[block] != kNoBlock;) {
            m_pool.release(table[block]);
            table[block] = kNoBlock;
        }
    }
    for (auto& table : sequence.tables)
        while (table.size() < wanted) {
            const auto block = m_pool.allocate();
            if (!block)
                return false;
            table.push_back(*block);
        }
    return true;
}

void BlockAllocator::publish(SequenceBlocks& sequence, std::span<const std::int64_t> tokens,
                             std::int64_t computed) {
    if (!m_layout.reusePrefixes)
        return;
    const std::int64_t whole = computed / m_layout.blockTokens;
    addKeys(sequence, tokens, whole);
    for (; sequence.published < whole; ++sequence.published) {
        const auto block = static_cast<std::size_t>(sequence.published);
        for (std::size_t group = 0; group < sequence.tables.size(); ++group)
            if (const BlockId id = sequence.tables[group][block]; id != kNoBlock)
                m_pool.publish(id, groupKey(group, sequence.keys[block]));
    }
}

void BlockAllocator::release(SequenceBlocks& sequence) {
    for (auto& table : sequence.tables)
        for (std::size_t block = table.size(); block-- > 0;)
            if (table[block] != kNoBlock)
                m_pool.release(table[block]);
    sequence.tables.clear();
    sequence.published = 0; // the keys stay: the tokens are the same when it is computed again
}

std::int64_t BlockAllocator::blocksFor(std::int64_t computed, std::int64_t length) const {
    std::int64_t total = 0;
    for (std::size_t group = 0; group < m_layout.windows.size(); ++group)
        total += divideUp(length, m_layout.blockTokens) - firstNeeded(group, computed);
    return total;
}

std::int64_t BlockAllocator::missingBlocks(const SequenceBlocks& sequence, std::int64_t computed,
                                           std::int64_t length) const {
    std::int64_t held = 0;
    for (const auto& table : sequence.tables)
        held += static_cast<std::int64_t>(table.size()) - std::ranges::count(table, kNoBlock);
    return std::max<std::int64_t>(0, blocksFor(computed, length) - held);
}

bool BlockAllocator::fits(std::int64_t tokens, std::int64_t stepTokens) const {
    // A step that ends at `tokens` and is as long as a step may be holds most; a window that starts inside of
    // a block costs one block more than its length says.
    const std::int64_t computed = std::max<std::int64_t>(0, tokens - stepTokens);
    std::int64_t most = 0;
    for (const std::int64_t window : m_layout.windows) {
        const std::int64_t all = divideUp(tokens, m_layout.blockTokens);
        const std::int64_t seen = divideUp(tokens - computed + window, m_layout.blockTokens) + 1;
        most += window == 0 ? all : std::min(all, seen);
    }
    return most <= m_layout.blocks;
}

std::int64_t BlockAllocator::capacityTokens(std::int64_t stepTokens) const {
    if (fits(kUnlimited, stepTokens))
        return kUnlimited;
    std::int64_t low = 0;
    std::int64_t high = kUnlimited;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (fits(middle, stepTokens) ? low : high) = middle;
    }
    return low;
}

} // namespace workbench
