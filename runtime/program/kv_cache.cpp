#include "runtime/program/kv_cache.h"

#include <algorithm>

namespace workbench {

KvCache::KvCache(const std::vector<AttentionShape>& shapes, std::int64_t capacity) : m_capacity(capacity) {
    m_layers.reserve(shapes.size());
    for (const AttentionShape& shape : shapes)
        m_layers.push_back(
            ops::makeKvCache(capacity, shape.kvHeads, shape.width, shape.valueWidth, shape.dtype));
}

std::int64_t KvCache::length() const {
    std::int64_t shortest = m_layers.empty() ? 0 : m_capacity;
    for (const ops::KvCacheView& layer : m_layers)
        shortest = std::min(shortest, layer.length);
    return shortest;
}

} // namespace workbench
