#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

/// What one layer stores for each token.
struct LayerPages {
    std::int64_t tokenBytes = 0; ///< of its key and its value
    std::int64_t window = 0;     ///< tokens that a query sees at most, itself included; 0: all before it
};

/// How layers share the blocks of a paged KV cache. A block belongs to one group at a time; it has as many
/// slots as the largest group has layers, each with room for the widest layer that uses it.
struct LayerGroups {
    struct Place {
        std::int64_t group = 0;
        std::int64_t slot = 0;
    };
    std::vector<Place> places;           ///< by layer
    std::vector<std::int64_t> windows;   ///< by group
    std::vector<std::int64_t> slotBytes; ///< by slot, for one token
};

/// Layers with equal windows share a group. Where one window is much more common than another its layers are
/// split into several groups of about equal size, because the slots that a small group leaves empty are lost.
LayerGroups groupLayers(std::span<const LayerPages> layers);

} // namespace workbench
