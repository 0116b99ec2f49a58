#include "runtime/engine/block_pool.h"

namespace workbench {

BlockPool::BlockPool(std::int64_t blocks) : m_blocks(static_cast<std::size_t>(blocks)) {
    // The first block is handed out first.
    for (std::int64_t block = blocks; block-- > 0;)
        m_blank.push_back(static_cast<BlockId>(block));
}

std::optional<BlockId> BlockPool::allocate() {
    BlockId block = kNoBlock;
    if (!m_blank.empty()) {
        block = m_blank.back();
        m_blank.pop_back();
    } else if (!m_remembered.empty()) {
        block = m_remembered.front();
        m_remembered.pop_front();
        m_published.erase(at(block).key);
        at(block).key.clear();
    } else {
        return std::nullopt;
    }
    at(block).references = 1;
    return block;
}

std::optional<BlockId> BlockPool::reuse(const std::string& key) {
    const auto found = find(key);
    if (!found)
        return std::nullopt;
    Block& block = at(*found);
    if (block.references++ == 0)
        m_remembered.erase(block.place);
    return found;
}

void BlockPool::release(BlockId id) {
    Block& block = at(id);
    if (block.references <= 0) // released twice: two sequences would write to it
        __builtin_trap();
    if (--block.references > 0)
        return;
    if (block.key.empty())
        m_blank.push_back(id);
    else
        block.place = m_remembered.insert(m_remembered.end(), id);
}

void BlockPool::publish(BlockId id, const std::string& key) {
    Block& block = at(id);
    if (block.references <= 0 || key.empty())
        __builtin_trap();
    if (block.key.empty() && m_published.try_emplace(key, id).second)
        block.key = key;
}

std::optional<BlockId> BlockPool::find(const std::string& key) const {
    const auto place = m_published.find(key);
    return place == m_published.end() ? std::nullopt : std::optional(place->second);
}

} // namespace workbench
