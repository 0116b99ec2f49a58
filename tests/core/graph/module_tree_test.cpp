#include "core/graph/module_tree.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

std::string layer(int number, const std::string& window) {
    const std::string i = std::to_string(number);
    const std::string at = " @\"model.layers." + i;
    const std::string from = number == 0 ? "%x" : "%y" + std::to_string(number - 1);
    return "%n" + i + ": f32[s0, 8] = aten.linear.default(input=" + from + ", weight=%w" + i + ")" + at +
           ".proj\"\n%y" + i + ": f32[s0, 8] = workbench.attention(query=%n" + i + ", layer=" + i +
           ", window=" + window + ")" + at + "\"\n";
}

/// windows: one text per layer.
ModuleTree treeOf(const std::vector<std::string>& windows) {
    std::string text = "module \"\" Model\nmodule \"model.layers.0\" Layer\ninput %x: f32[s0, 8]\n";
    for (std::size_t i = 0; i < windows.size(); ++i)
        text += "module \"model.layers." + std::to_string(i) + "\" Layer\nparameter %w" + std::to_string(i) +
                ": f32[8, 8] \"model.layers." + std::to_string(i) + ".proj.weight\"\n";
    text += "parameter %head: bf16[5, 8] \"head.weight\"\n";
    for (std::size_t i = 0; i < windows.size(); ++i)
        text += layer(static_cast<int>(i), windows[i]);
    text += "%z: f32[s0, 5] = aten.linear.default(input=%y" + std::to_string(windows.size() - 1) +
            ", weight=%head) @\"head\"\noutput %z\n";
    return buildModuleTree(parseGraph(text).value());
}

TEST(ModuleTree, AlikeLayersAreFolded) {
    const ModuleTree root = treeOf({"0", "0", "0"});
    EXPECT_EQ(root.className, "Model");
    EXPECT_EQ(root.nodes, 7);
    EXPECT_EQ(root.parameterBytes, 3 * 256 + 80);
    ASSERT_EQ(root.children.size(), 2U);
    const ModuleTree& layers = root.children[0].children.at(0);
    EXPECT_EQ(layers.label, "layers");
    ASSERT_EQ(layers.children.size(), 1U);
    EXPECT_EQ(layers.children[0].label, "0-2");
    EXPECT_EQ(layers.children[0].count, 3);
    EXPECT_EQ(layers.children[0].nodes, 2);
    EXPECT_EQ(layers.children[0].parameterBytes, 256);
    EXPECT_EQ(layers.children[0].paths.back(), "model.layers.2");
    EXPECT_EQ(layers.children[0].children.at(0).label, "proj");
}

TEST(ModuleTree, OddOnesAreToldApart) {
    const ModuleTree root = treeOf({"5", "5", "0", "5", "0"});
    const ModuleTree& layers = root.children[0].children.at(0);
    ASSERT_EQ(layers.children.size(), 2U);
    EXPECT_EQ(layers.children[0].label, "0-1, 3");
    EXPECT_EQ(layers.children[0].count, 3);
    EXPECT_EQ(layers.children[1].label, "2, 4");
    EXPECT_EQ(layers.nodes, 10);
}

TEST(ModuleTree, AnEmptyGraphHasOnlyTheRoot) {
    const ModuleTree root = buildModuleTree(parseGraph("input %x: f32[2]\noutput %x\n").value());
    EXPECT_TRUE(root.children.empty());
    EXPECT_EQ(root.nodes, 0);
}

} // namespace
} // namespace workbench
