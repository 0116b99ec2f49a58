// Block tables of sequences over one pool of KV cache blocks.
//
// A block holds the keys and values of `blockTokens` consecutive tokens for one layer group: layers that see
// equally far back. Position p of a group lies in slot p % blockTokens of the block table[p / blockTokens].
// All groups share the pool, so that no memory is set aside for one that another could use.
#pragma once

#include "core/support/result.h"
#include "runtime/engine/block_pool.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace workbench {

struct BlockLayout {
    std::int64_t blockTokens = 64;
    std::int64_t blocks = 0;
    /// One entry for each layer group: how many tokens a query sees at most, itself included; 0: all before
    /// it.
    std::vector<std::int64_t> windows{0};
    bool reusePrefixes = true;
};

/// The blocks of one sequence.
struct SequenceBlocks {
    /// By layer group; kNoBlock where the group's window has left the block behind. Filled by BlockAllocator.
    std::vector<std::vector<BlockId>> tables;
    std::vector<std::string> keys; ///< of the leading whole blocks, as far as they have been needed
    std::int64_t published = 0;    ///< whole blocks that others can already find
};

/// Hands out blocks so that every sequence can always be given up and computed again. One thread at a time;
/// capacityTokens() and fits() from any.
class BlockAllocator {
public:
    static Result<BlockAllocator> create(BlockLayout layout);

    /// Takes over the blocks that other sequences with the same leading tokens have left, into an empty
    /// `sequence`. Returns how many tokens need not be computed: whole blocks, never all of `tokens`.
    std::int64_t reusePrefix(SequenceBlocks& sequence, std::span<const std::int64_t> tokens);

    /// Gives the sequence room for tokens [computed, length), and frees blocks that no token from `computed`
    /// on sees. False when blocks run out; what it got so far stays with the sequence.
    bool grow(SequenceBlocks& sequence, std::int64_t computed, std::int64_t length);

    /// Lets others find the blocks that are whole, now that the first `computed` of `tokens` are stored.
    void publish(SequenceBlocks& sequence, std::span<const std::int64_t> tokens, std::int64_t computed);

    /// Gives all blocks back. The last block first: a prefix is of use without its continuation, but not the
    /// other way round.
    void release(SequenceBlocks& sequence);

    /// Blocks that a sequence needs while tokens [computed, length) are computed in one step.
    std::int64_t blocksFor(std::int64_t computed, std::int64_t length) const;
    /// Blocks that growing would take from the pool.
    std::int64_t missingBlocks(const SequenceBlocks& sequence, std::int64_t computed,
                               std::int64_t length) const;
    /// Whether a sequence alone could reach `tokens` tokens when at most `stepTokens` are computed at once.
    bool fits(std::int64_t tokens, std::int64_t stepTokens) const;
    /// The longest sequence that fits; kUnlimited when every group has a window that does.
    std::int64_t capacityTokens(std::int64_t stepTokens) const;
    static constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;

    const BlockLayout& layout() const { return m_layout; }
    const BlockPool& pool() const { return m_pool; }

private:
    explicit BlockAllocator(BlockLayout layout) : m_layout(std::move(layout)), m_pool(m_layout.blocks) {}

    std::int64_t firstNeeded(std::size_t group, std::int64_t computed) const;
    void addKeys(SequenceBlocks& sequence, std::span<const std::int64_t> tokens, std::int64_t blocks) const;
    bool isStored(const SequenceBlocks& sequence, std::int64_t blocks) const;
    std::int64_t longestStored(const SequenceBlocks& sequence, std::int64_t limit) const;

    BlockLayout m_layout;
    BlockPool m_pool;
};

} // namespace workbench
