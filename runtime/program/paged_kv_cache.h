#pragma once

#include "core/support/result.h"
#include "runtime/engine/block_allocator.h"
#include "runtime/engine/layer_groups.h"
#include "runtime/ops/attention_tables.h"
#include "runtime/program/kv_cache.h"

#include <cstdint>
#include <vector>

namespace workbench {

struct PagedKvOptions {
    std::int64_t blockTokens = 64;
    std::int64_t bytes = 0; ///< of all blocks together; the CPU's memory is taken as blocks are first written
    c10::Device device{c10::kCPU};
    std::int64_t spareBlocks = 0; ///< of those, blocks behind the layout's: for tokens that only pad a step
};

/// Keys and values of many sequences in blocks, for every attention node of a program. Which blocks are whose
/// is a BlockAllocator's matter, with the layout given here.
class PagedKvCache {
public:
    /// An Error when not even one block fits into the bytes; throws as LibTorch does when there is no memory.
    static Result<PagedKvCache> create(const std::vector<AttentionShape>& shapes,
                                       const PagedKvOptions& options);

    BlockLayout layout() const;
    ops::PagedKvView& layer(std::int32_t attention) { return m_layers[static_cast<std::size_t>(attention)]; }
    /// The layer group of an attention node.
    std::size_t group(std::int32_t attention) const {
        return static_cast<std::size_t>(m_groups.places[static_cast<std::size_t>(attention)].group);
    }

private:
    LayerGroups m_groups;
    std::int64_t m_blockTokens = 0;
    std::int64_t m_blocks = 0;
    std::vector<ops::PagedKvView> m_layers; ///< by attention node; those of one slot share memory
};

/// What a run over a paged cache needs, by layer group: sequences for the CPU's way, tables for a GPU's.
struct PagedRun {
    PagedKvCache* cache = nullptr;
    std::vector<std::vector<ops::PagedSequence>> sequences; ///< all of the run's tokens
    std::vector<ops::PagedTables> tables;
};

} // namespace workbench
