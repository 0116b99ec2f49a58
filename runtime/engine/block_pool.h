// The blocks of a paged KV cache: who holds which, and what the free ones still remember.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace workbench {

using BlockId = std::int32_t;
constexpr BlockId kNoBlock = -1;

/// A fixed number of blocks with reference counts. A block that is published under a key keeps its content
/// after the last reference is gone and can be had again under that key, until an allocation needs its place:
/// the one that was released first goes first. One thread at a time.
class BlockPool {
public:
    explicit BlockPool(std::int64_t blocks);

    /// A block of unknown content with one reference; nothing when every block is referenced.
    std::optional<BlockId> allocate();
    /// One more reference to the block published under `key`; nothing when there is none.
    std::optional<BlockId> reuse(const std::string& key);
    void release(BlockId block);

    /// Makes a referenced block findable. Where another block has that key already, that one stays.
    void publish(BlockId block, const std::string& key);
    /// The block published under `key`, without a reference.
    std::optional<BlockId> find(const std::string& key) const;

    std::int64_t size() const { return static_cast<std::int64_t>(m_blocks.size()); }
    std::int64_t available() const { return static_cast<std::int64_t>(m_blank.size() + m_remembered.size()); }
    std::int64_t remembered() const { return static_cast<std::int64_t>(m_remembered.size()); }

private:
    struct Block {
        std::int64_t references = 0;
        std::string key;                    ///< empty: not published
        std::list<BlockId>::iterator place; ///< in m_remembered, of a published block without references
    };
    Block& at(BlockId block) { return m_blocks.at(static_cast<std::size_t>(block)); }

    std::vector<Block> m_blocks;
    std::vector<BlockId> m_blank;    ///< free, nothing to remember
    std::list<BlockId> m_remembered; ///< free and published, the longest unused first
    std::unordered_map<std::string, BlockId> m_published;
};

} // namespace workbench
