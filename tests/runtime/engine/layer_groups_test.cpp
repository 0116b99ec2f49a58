#include "runtime/engine/layer_groups.h"

#include <gtest/gtest.h>

#include <set>

namespace workbench {
namespace {

using Integers = std::vector<std::int64_t>;

/// "F" sees everything, "S" a window of 512; 100 bytes a token.
std::vector<LayerPages> layersOf(const std::string& kinds) {
    std::vector<LayerPages> layers;
    for (const char kind : kinds)
        layers.push_back({100, kind == 'S' ? 512 : 0});
    return layers;
}

/// Two layers of one group never share a slot, and a group's layers have its window.
void expectSound(const std::vector<LayerPages>& layers, const LayerGroups& groups) {
    std::set<std::pair<std::int64_t, std::int64_t>> taken;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const auto [group, slot] = groups.places[layer];
        EXPECT_TRUE(taken.insert({group, slot}).second) << layer;
        EXPECT_EQ(groups.windows.at(static_cast<std::size_t>(group)), layers[layer].window);
        EXPECT_GE(groups.slotBytes.at(static_cast<std::size_t>(slot)), layers[layer].tokenBytes);
    }
}

TEST(LayerGroups, PutLayersWithOneWindowTogether) {
    const auto groups = groupLayers(layersOf("FFFF"));
    expectSound(layersOf("FFFF"), groups);
    EXPECT_EQ(groups.windows, (Integers{0}));
    EXPECT_EQ(groups.slotBytes, (Integers{100, 100, 100, 100}));
}

TEST(LayerGroups, HalveAModelOfAlternatingWindows) {
    const auto groups = groupLayers(layersOf("SFSFSF"));
    expectSound(layersOf("SFSFSF"), groups);
    EXPECT_EQ(groups.windows, (Integers{0, 512}));
    EXPECT_EQ(groups.slotBytes.size(), 3U);
}

TEST(LayerGroups, SplitTheCommonWindowByTheRareOne) {
    // Gemma 3 with 26 layers: every sixth sees everything.
    const auto layers = layersOf("SSSSSFSSSSSFSSSSSFSSSSSFSS");
    const auto groups = groupLayers(layers);
    expectSound(layers, groups);
    EXPECT_EQ(groups.slotBytes.size(), 4U);
    EXPECT_EQ(groups.windows, (Integers{0, 512, 512, 512, 512, 512, 512}));
}

TEST(LayerGroups, StayFewWhereOneLayerIsUnlikeAllOthers) {
    std::string kinds(63, 'S');
    kinds += 'F';
    const auto layers = layersOf(kinds);
    const auto groups = groupLayers(layers);
    expectSound(layers, groups);
    EXPECT_LE(groups.windows.size(), 9U);
}

TEST(LayerGroups, GiveASlotTheRoomOfItsWidestLayer) {
    const std::vector<LayerPages> layers{{100, 0}, {300, 7}, {200, 0}, {50, 7}};
    const auto groups = groupLayers(layers);
    expectSound(layers, groups);
    EXPECT_EQ(groups.slotBytes, (Integers{300, 200}));
}

TEST(LayerGroups, AreNoneWithoutLayers) {
    EXPECT_TRUE(groupLayers({}).windows.empty());
}

} // namespace
} // namespace workbench
