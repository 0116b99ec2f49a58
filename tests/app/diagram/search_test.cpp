#include "app/diagram/search.h"
#include "tests/app/diagram/layered_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

std::vector<std::string> textsOf(const std::vector<SearchHit>& hits) {
    std::vector<std::string> texts;
    for (const SearchHit& hit : hits)
        texts.push_back(hit.text);
    return texts;
}

std::vector<std::string> find(const std::string& query, std::size_t limit = 100) {
    return textsOf(SearchIndex(layeredModel({2, 2}).graph, nullptr).find(query, limit));
}

TEST(Search, FindsNodesByNameOpAndType) {
    EXPECT_EQ(find("p1"), (std::vector<std::string>{"p1"}));
    EXPECT_EQ(find("embedding.default"), (std::vector<std::string>{"h"}));
    EXPECT_EQ(find("f32[1,T,50]"), (std::vector<std::string>{"y"}));
}

TEST(Search, TheWholeNameComesFirst) {
    EXPECT_EQ(find("model.layers.1").front(), "model.layers.1");
    EXPECT_EQ(find("H").front(), "h");
}

TEST(Search, AllWordsMustOccurInAnyOrder) {
    EXPECT_EQ(find("pow layers.1"), find("layers.1 pow"));
    EXPECT_EQ(find("pow layers.1"), (std::vector<std::string>{"p1"}));
    EXPECT_TRUE(find("pow head").empty());
}

TEST(Search, FindsParametersByTheModelsName) {
    const DrawnModel model = layeredModel({2});
    const auto hits = SearchIndex(model.graph, nullptr).find("proj.weight", 10);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits[0].kind, SearchHit::Kind::input);
    EXPECT_EQ(model.graph.node(hits[0].node).op, "aten.linear.default");
}

TEST(Search, FindsSitesAndNodesByPattern) {
    const DrawnModel model = layeredModel({2});
    Analysis analysis;
    Site site;
    site.id = "rms-norm@model.layers.0.norm";
    site.pattern = "rms-norm";
    site.nodes = {1, 2};
    analysis.sites.push_back(site);
    const auto hits = SearchIndex(model.graph, &analysis).find("rms-norm", 10);
    EXPECT_EQ(textsOf(hits), (std::vector<std::string>{"rms-norm@model.layers.0.norm", "p0", "m0"}));
    EXPECT_EQ(hits[0].site, std::optional<std::size_t>(0));
}

TEST(Search, BlanksAloneFindNothing) {
    EXPECT_TRUE(find("  ").empty());
}

TEST(Search, GivesNoMoreThanAskedFor) {
    EXPECT_EQ(find("a", 3).size(), 3U);
}

} // namespace
} // namespace workbench
