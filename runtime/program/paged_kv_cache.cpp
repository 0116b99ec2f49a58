#include "runtime/program/paged_kv_cache.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>
#include <string>

namespace workbench {
namespace {

/// Blocks begin on cache lines, so that any dtype can be stored.
constexpr std::int64_t kAlignment = 64;

std::int64_t alignedBytes(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The layer's keys and values in a slot's memory [blocks, bytes]: in each block first all keys, head by
/// head, then all values, because decoding reads head by head (see makeKvCache).
ops::PagedKvView viewOf(const at::Tensor& slot, const AttentionShape& shape, std::int64_t blockTokens) {
    const at::Tensor elements = slot.view(shape.dtype);
    const auto part = [&](std::int64_t offset, std::int64_t width) {
        return elements.as_strided({slot.size(0), shape.kvHeads, blockTokens, width},
                                   {elements.stride(0), blockTokens * width, width, 1}, offset);
    };
    return {part(0, shape.width), part(shape.kvHeads * blockTokens * shape.width, shape.valueWidth)};
}

} // namespace

Result<PagedKvCache> PagedKvCache::create(const std::vector<AttentionShape>& shapes,
                                          const PagedKvOptions& options) {
    std::vector<LayerPages> layers;
    for (const AttentionShape& shape : shapes)
        layers.push_back({tokenBytes(shape), shape.window});
    PagedKvCache cache;
    cache.m_groups = groupLayers(layers);
    cache.m_blockTokens = options.blockTokens;
    std::int64_t blockBytes = 0;
    for (const std::int64_t bytes : cache.m_groups.slotBytes)
        blockBytes += alignedBytes(bytes * options.blockTokens);
    if (blockBytes == 0)
        return Error{ErrorCode::runtimeFailed, "The model has no attention that stores keys and values.", {}};
    const std::int64_t room =
        std::min<std::int64_t>(options.bytes / blockBytes, std::numeric_limits<BlockId>::max() - 1);
    cache.m_blocks = room - options.spareBlocks;
    if (cache.m_blocks < 1)
        return Error{ErrorCode::badInput,
                     "The KV cache's " + std::to_string(options.bytes) + " bytes hold no block of " +
                         std::to_string(options.blockTokens) + " tokens, which needs " +
                         std::to_string(blockBytes) + ": give it more memory.",
                     {}};
    std::vector<at::Tensor> slots;
    for (const std::int64_t bytes : cache.m_groups.slotBytes)
        slots.push_back(at::empty({room, alignedBytes(bytes * options.blockTokens)},
                                  at::TensorOptions(options.device).dtype(at::kByte)));
    for (std::size_t i = 0; i < shapes.size(); ++i)
        cache.m_layers.push_back(viewOf(slots[static_cast<std::size_t>(cache.m_groups.places[i].slot)],
                                        shapes[i], options.blockTokens));
    return cache;
}

BlockLayout PagedKvCache::layout() const {
    return {.blockTokens = m_blockTokens, .blocks = m_blocks, .windows = m_groups.windows};
}

} // namespace workbench
