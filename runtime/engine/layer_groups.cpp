#include "runtime/engine/layer_groups.h"

#include <algorithm>
#include <map>

namespace workbench {
namespace {

/// More groups than about this many cost more to look after than the lost slots are worth.
constexpr std::int64_t kMostGroups = 8;

/// Layers of a group: those of the rarest window.
std::int64_t groupSize(const std::map<std::int64_t, std::vector<std::size_t>>& byWindow,
                       std::int64_t layers) {
    std::int64_t rarest = layers;
    for (const auto& [window, those] : byWindow)
        rarest = std::min<std::int64_t>(rarest, std::ssize(those));
    return std::max(rarest, (layers + kMostGroups - 1) / kMostGroups);
}

} // namespace

LayerGroups groupLayers(std::span<const LayerPages> layers) {
    std::map<std::int64_t, std::vector<std::size_t>> byWindow;
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
        byWindow[layers[layer].window].push_back(layer);
    const std::int64_t size = groupSize(byWindow, std::ssize(layers));
    LayerGroups groups;
    groups.places.resize(layers.size());
    for (const auto& [window, those] : byWindow) {
        for (std::int64_t i = 0; i < std::ssize(those); ++i) {
            const std::int64_t slot = i % size;
            if (slot == 0)
                groups.windows.push_back(window);
            if (slot == std::ssize(groups.slotBytes))
                groups.slotBytes.push_back(0);
            const std::size_t layer = those[static_cast<std::size_t>(i)];
            groups.places[layer] = {std::ssize(groups.windows) - 1, slot};
            std::int64_t& bytes = groups.slotBytes[static_cast<std::size_t>(slot)];
            bytes = std::max(bytes, layers[layer].tokenBytes);
        }
    }
    return groups;
}

} // namespace workbench
