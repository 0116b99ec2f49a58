#include "app/diagram/diagram.h"
#include "tests/app/diagram/layered_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

std::string textOf(const DrawnModel& model, const DiagramRequest& request) {
    return print(buildDiagram(model.graph, model.tree, request));
}

const Box* find(const Diagram& diagram, const std::string& key) {
    const auto found = std::find_if(diagram.boxes.begin(), diagram.boxes.end(),
                                    [&](const Box& box) { return box.key == key; });
    return found == diagram.boxes.end() ? nullptr : &*found;
}

std::int64_t boxesOf(const Diagram& diagram, Box::Role role) {
    return std::count_if(diagram.boxes.begin(), diagram.boxes.end(),
                         [&](const Box& box) { return box.role == role; });
}

TEST(Diagram, ModulesAreCollapsedAndEdgesCarryTypes) {
    EXPECT_EQ(textOf(layeredModel({2}), {.scope = "model"}), R"(scope "model"
  module m:model.embed "embed" Embedding (weight f32[50, 8]; embedding · 1.6 KiB)
  module m:model.layers.0 "layers.0" Layer (4 nodes · 256 B)
  input v:ids "ids" i64[1, T]
  output o:a0 "a0" f32[1, T, 8] (to head)
  v:ids -> m:model.embed i64[1, T]
  m:model.embed -> m:model.layers.0 f32[1, T, 8]
  m:model.layers.0 -> o:a0 f32[1, T, 8]
)");
}

TEST(Diagram, AModuleOpenedInPlaceContainsItsBoxes) {
    EXPECT_EQ(textOf(layeredModel({2}), {"model.layers.0", {"model.layers.0.norm"}}),
              R"(scope "model.layers.0"
  module m:model.layers.0.norm "norm" Norm open (2 nodes)
    node n:p0 "pow" in m:model.layers.0.norm (exponent 2)
    node n:m0 "neg" in m:model.layers.0.norm
  module m:model.layers.0.proj "proj" Linear (weight f32[8, 8]; linear · 256 B)
  node n:a0 "add"
  input v:h "h" f32[1, T, 8] (from model.embed)
  output o:a0 "a0" f32[1, T, 8] (to head)
  v:h -> n:p0 f32[1, T, 8]
  v:h -> n:a0 f32[1, T, 8]
  n:p0 -> n:m0 f32[1, T, 8]
  n:m0 -> m:model.layers.0.proj f32[1, T, 8]
  m:model.layers.0.proj -> n:a0 f32[1, T, 8]
  n:a0 -> o:a0 f32[1, T, 8]
)");
}

TEST(Diagram, ParametersStandBesideTheNodeThatReadsThem) {
    const DrawnModel model = layeredModel({2});
    const Diagram diagram = buildDiagram(model.graph, model.tree, {"model.layers.0.proj", {}});
    const Box* weight = find(diagram, "b:w0:n:l0");
    ASSERT_TRUE(weight);
    EXPECT_EQ(weight->role, Box::Role::parameter);
    EXPECT_EQ(weight->title, "weight");
    EXPECT_EQ(diagram.boxes[static_cast<std::size_t>(weight->beside)].key, "n:l0");
}

TEST(Diagram, BoxesBesideOthersComeLast) {
    const DrawnModel model = layeredModel({2, 2});
    const Diagram diagram = buildDiagram(model.graph, model.tree, {"", {"*", "model.layers.0.proj"}});
    EXPECT_TRUE(std::is_partitioned(diagram.boxes.begin(), diagram.boxes.end(),
                                    [](const Box& box) { return box.beside < 0; }));
}

TEST(Diagram, ParentsComeBeforeTheirChildren) {
    const DrawnModel model = layeredModel({2, 3, 2});
    const Diagram diagram = buildDiagram(model.graph, model.tree, {"", {"*"}});
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
        EXPECT_LT(diagram.boxes[i].parent, static_cast<std::int32_t>(i));
}

TEST(Diagram, AlikeLayersAreFoldedIntoOneBox) {
    const DrawnModel model = layeredModel(std::vector<int>(12, 2));
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model"});
    const Box* layers = find(diagram, "m:model.layers.0-11");
    ASSERT_TRUE(layers);
    EXPECT_EQ(layers->title, "layers.0–11");
    EXPECT_EQ(layers->count, 12);
    EXPECT_EQ(layers->modules.size(), 12U);
    EXPECT_EQ(layers->nodes.size(), 48U);
    EXPECT_EQ(layers->details, (std::vector<std::string>{"48 nodes · 3.0 KiB"}));
}

TEST(Diagram, FewLayersStaySingle) {
    const DrawnModel model = layeredModel(std::vector<int>(11, 2));
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model"});
    EXPECT_TRUE(find(diagram, "m:model.layers.10"));
}

TEST(Diagram, OddLayersAreToldApart) {
    std::vector<int> exponents(14, 2);
    exponents[0] = 3;
    exponents[9] = 4;
    const DrawnModel model = layeredModel(exponents);
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model"});
    for (const char* key :
         {"m:model.layers.0", "m:model.layers.1-8", "m:model.layers.9", "m:model.layers.10-13"})
        EXPECT_TRUE(find(diagram, key)) << key;
}

TEST(Diagram, LayersThatTakeTurnsAreFoldedByTheirPeriod) {
    std::vector<int> exponents;
    for (int i = 0; i < 24; ++i)
        exponents.push_back(i % 2 + 2);
    const DrawnModel model = layeredModel(exponents);
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model"});
    const Box* layers = find(diagram, "m:model.layers.0-23");
    ASSERT_TRUE(layers);
    EXPECT_EQ(layers->details.front(), "12 turns of 2");
}

TEST(Diagram, AFoldedBoxOpensIntoItsMembers) {
    const DrawnModel model = layeredModel(std::vector<int>(12, 2));
    const Diagram diagram = buildDiagram(model.graph, model.tree, {"model", {"model.layers.0-11"}});
    const Box* fold = find(diagram, "m:model.layers.0-11");
    const Box* layer = find(diagram, "m:model.layers.7");
    ASSERT_TRUE(fold && layer);
    EXPECT_TRUE(fold->expanded);
    EXPECT_EQ(&diagram.boxes[static_cast<std::size_t>(layer->parent)], fold);
    EXPECT_EQ(layer->title, "layers.7");
}

TEST(Diagram, AValueWithManyUsersIsCopiedBesideAllButTheFirst) {
    std::string text = "input %x: f32[4]\n%c: f32[4] = aten.cos.default(self=%x)\n";
    for (int i = 0; i < 6; ++i)
        text += "%y" + std::to_string(i) + ": f32[4] = aten.mul.Tensor(self=%" +
                (i == 0 ? std::string("x") : "y" + std::to_string(i - 1)) + ", other=%c)\n";
    const DrawnModel model = drawn(text + "output %y5\n");
    const Diagram diagram = buildDiagram(model.graph, model.tree, {});
    EXPECT_EQ(boxesOf(diagram, Box::Role::copy), 5);
    const auto fromCos = [&](const Edge& edge) {
        return diagram.boxes[static_cast<std::size_t>(edge.from)].key == "n:c";
    };
    EXPECT_EQ(std::count_if(diagram.edges.begin(), diagram.edges.end(), fromCos), 1);
    DiagramRequest plain;
    plain.copiedFrom = 7;
    EXPECT_EQ(boxesOf(buildDiagram(model.graph, model.tree, plain), Box::Role::copy), 0);
}

TEST(Diagram, ManyParametersOfOneNodeAreOneBox) {
    std::string text;
    std::string list;
    for (int i = 0; i < 20; ++i) {
        text += "parameter %e" + std::to_string(i) + ": f32[2] \"experts." + std::to_string(i) + "\"\n";
        list += (i ? ", %e" : "%e") + std::to_string(i);
    }
    const DrawnModel model =
        drawn(text + "%y: f32[20, 2] = aten.stack.default(tensors=[" + list + "])\noutput %y\n");
    const Diagram diagram = buildDiagram(model.graph, model.tree, {});
    EXPECT_EQ(boxesOf(diagram, Box::Role::parameter), 1);
    EXPECT_EQ(diagram.boxes.back().title, "20 values");
}

TEST(Diagram, SeveralValuesBetweenTwoBoxesAreOneEdge) {
    const DrawnModel model = drawn(R"(module "" M
module "rope" Rope
module "attn" Attention
input %x: f32[4]
%c: f32[4] = aten.cos.default(self=%x) @"rope"
%s: f32[4] = aten.sin.default(self=%x) @"rope"
%y: f32[4] = aten.mul.Tensor(self=%c, other=%s) @"attn"
%z: f32[4] = aten.neg.default(self=%y) @"attn"
output %z
)");
    const Diagram diagram = buildDiagram(model.graph, model.tree, {});
    const auto several = std::find_if(diagram.edges.begin(), diagram.edges.end(),
                                      [](const Edge& edge) { return edge.values == 2; });
    ASSERT_NE(several, diagram.edges.end());
    EXPECT_EQ(several->label, "2 × f32[4]");
}

TEST(Diagram, AScopeThatIsNoModuleIsEmpty) {
    const DrawnModel model = layeredModel({2});
    EXPECT_TRUE(buildDiagram(model.graph, model.tree, {.scope = "model.layer"}).boxes.empty());
}

TEST(Diagram, NumbersInPathsAreNoPrefixes) {
    const DrawnModel model = layeredModel(std::vector<int>(11, 2));
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model.layers.1"});
    EXPECT_EQ(diagram.boxes.front().module, "model.layers.1.norm");
    EXPECT_FALSE(find(diagram, "n:a10"));
}

TEST(InitialRequest, OpensTheModuleThatNearlyEverythingIsIn) {
    const DrawnModel model = layeredModel(std::vector<int>(12, 2));
    EXPECT_EQ(initialRequest(model.graph, model.tree).expanded, (std::set<std::string>{"model"}));
}

TEST(InitialRequest, LeavesTheModulesOfALayerClosed) {
    const DrawnModel model = layeredModel({2, 2});
    const Diagram diagram =
        buildDiagram(model.graph, model.tree, initialRequest(model.graph, model.tree, "model.layers.1"));
    EXPECT_TRUE(std::none_of(diagram.boxes.begin(), diagram.boxes.end(),
                             [](const Box& box) { return box.expanded; }));
}

TEST(Reveal, OpensFoldsAndModulesUntilTheNodeShows) {
    const DrawnModel model = layeredModel(std::vector<int>(12, 2));
    NodeId node = 0;
    while (model.graph.value(model.graph.node(node).outputs.front()).name != "m7")
        ++node;
    const DiagramRequest request = revealNode(model.graph, model.tree, {}, node);
    const Diagram diagram = buildDiagram(model.graph, model.tree, request);
    const std::int32_t box = boxOf(diagram, node);
    ASSERT_GE(box, 0);
    EXPECT_EQ(diagram.boxes[static_cast<std::size_t>(box)].key, "n:m7");
}

TEST(Reveal, LeavesAScopeThatTheModuleIsNotIn) {
    const DrawnModel model = layeredModel({2, 2});
    const DiagramRequest request =
        revealModule(model.graph, model.tree, {"model.layers.0", {}}, "model.layers.1.norm");
    EXPECT_EQ(request.scope, "");
    EXPECT_TRUE(find(buildDiagram(model.graph, model.tree, request), "m:model.layers.1.norm"));
}

TEST(Breadcrumbs, LeaveOutListsOfLayers) {
    EXPECT_EQ(breadcrumbs(layeredModel({2}).graph, "model.layers.0.norm"),
              (std::vector<std::string>{"", "model", "model.layers.0", "model.layers.0.norm"}));
    EXPECT_EQ(breadcrumbs(layeredModel({2}).graph, ""), (std::vector<std::string>{""}));
}

} // namespace
} // namespace workbench
