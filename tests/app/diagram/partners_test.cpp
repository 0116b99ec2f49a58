#include "app/diagram/partners.h"
#include "core/graph/text.h"
#include "tests/fusion/support/texts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::test {
namespace {

/// The attention of the fusion tests with its three projections merged, drawn with all modules open.
class PartnersTest : public testing::Test {
protected:
    PartnersTest() {
        Result<Graph> parsed = parseGraph(kAttention);
        graph = canonicalize(*parsed).value();
        analysis = analyze(graph);
        rewritten = rewrite(graph, analysis, {{"qkv@attn", Decision::apply}}).value();
        original = drawn(graph, {"*"});
        result = drawn(rewritten.graph, {"*"});
        map = std::make_unique<Correspondence>(graph, analysis, rewritten);
    }

    static Diagram drawn(const Graph& graph, std::set<std::string> expanded) {
        DiagramRequest request;
        request.scope = "attn";
        request.expanded = std::move(expanded);
        return buildDiagram(graph, buildModuleTree(graph), request);
    }
    static std::int32_t boxMaking(const Graph& graph, const Diagram& diagram, std::string_view value) {
        const auto found = std::find_if(graph.values.begin(), graph.values.end(),
                                        [&](const Value& each) { return each.name == value; });
        return boxOf(diagram, found->producer);
    }
    const Box& originalBox(std::string_view value) const {
        return original.boxes[static_cast<std::size_t>(boxMaking(graph, original, value))];
    }
    const Box& resultBox(std::string_view value) const {
        return result.boxes[static_cast<std::size_t>(boxMaking(rewritten.graph, result, value))];
    }

    Graph graph;
    Analysis analysis;
    Rewritten rewritten;
    Diagram original, result;
    std::unique_ptr<Correspondence> map;
};

TEST_F(PartnersTest, AKeptNodeHasTheBoxOfTheSameNode) {
    const std::vector<std::int32_t> partners =
        partnersOf(*map, GraphSide::original, originalBox("a"), result);
    EXPECT_EQ(partners, std::vector<std::int32_t>{boxMaking(rewritten.graph, result, "a")});
    EXPECT_EQ(fateOf(*map, GraphSide::original, originalBox("a")), Fate::kept);
}

TEST_F(PartnersTest, AMergedNodeHasAllBoxesOfItsReplacement) {
    EXPECT_EQ(partnersOf(*map, GraphSide::original, originalBox("q"), result).size(), 2u);
    EXPECT_EQ(fateOf(*map, GraphSide::original, originalBox("q")), Fate::merged);
    EXPECT_EQ(fateOf(*map, GraphSide::rewritten, resultBox("q")), Fate::added);
    EXPECT_EQ(partnersOf(*map, GraphSide::rewritten, resultBox("q"), original).size(), 3u);
}

TEST_F(PartnersTest, AClosedModuleSaysWhetherAnythingInItChanged) {
    DiagramRequest request;
    const Diagram closed = buildDiagram(graph, buildModuleTree(graph), request);
    const auto module = std::find_if(closed.boxes.begin(), closed.boxes.end(),
                                     [](const Box& box) { return box.module == "attn" && !box.expanded; });
    ASSERT_NE(module, closed.boxes.end());
    EXPECT_EQ(fateOf(*map, GraphSide::original, *module), Fate::merged);
    const Correspondence unchanged(graph, analysis, rewrite(graph, analysis, {}).value());
    EXPECT_EQ(fateOf(unchanged, GraphSide::original, *module), Fate::kept);
}

TEST_F(PartnersTest, AModuleFindsItselfOnTheOtherSide) {
    const Diagram left = buildDiagram(graph, buildModuleTree(graph), {});
    const Diagram right = buildDiagram(rewritten.graph, buildModuleTree(rewritten.graph), {});
    for (const Box& box : left.boxes) {
        if (box.module != "attn" || box.kind != Box::Kind::module)
            continue;
        const std::vector<std::int32_t> partners = partnersOf(*map, GraphSide::original, box, right);
        ASSERT_EQ(partners.size(), 1u);
        EXPECT_EQ(right.boxes[static_cast<std::size_t>(partners.front())].module, "attn");
    }
}

TEST_F(PartnersTest, WithoutAPartnerThereIsNone) {
    Rewritten cut = rewritten;
    for (Node& node : cut.graph.nodes)
        node.origins.clear();
    const Correspondence lost(graph, analysis, cut);
    EXPECT_FALSE(hasPartner(lost, GraphSide::original, originalBox("a")));
    EXPECT_TRUE(partnersOf(lost, GraphSide::original, originalBox("a"), result).empty());
    EXPECT_EQ(fateOf(lost, GraphSide::original, originalBox("a")), Fate::removed);
    EXPECT_TRUE(hasPartner(*map, GraphSide::original, originalBox("a")));
}

} // namespace
} // namespace workbench::test
