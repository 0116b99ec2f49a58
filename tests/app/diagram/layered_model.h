#pragma once

#include "core/graph/module_tree.h"
#include "core/graph/text.h"

#include <string>
#include <vector>

namespace workbench {

/// A graph with what diagrams need beside it.
struct DrawnModel {
    Graph graph;
    ModuleTree tree;
};

inline DrawnModel drawn(const std::string& text) {
    DrawnModel model{parseGraph(text).value(), {}};
    model.tree = buildModuleTree(model.graph);
    return model;
}

/// Embedding, layers of a norm and a product each, and a head. One entry per layer: the norm's exponent, so
/// that different ones are not alike.
inline DrawnModel layeredModel(const std::vector<int>& exponents) {
    std::string text = "module \"\" Model\nmodule \"model\" Body\nmodule \"model.embed\" Embedding\n"
                       "module \"head\" Linear\ninput %ids: i64[1, s7]\n"
                       "parameter %table: f32[50, 8] \"model.embed.weight\"\n"
                       "parameter %out: f32[50, 8] \"head.weight\"\n";
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        const std::string path = "model.layers." + std::to_string(i);
        text += "module \"" + path + "\" Layer\nmodule \"" + path + ".norm\" Norm\nmodule \"" + path +
                ".proj\" Linear\nparameter %w" + std::to_string(i) + ": f32[8, 8] \"" + path +
                ".proj.weight\"\n";
    }
    text += "%h: f32[1, s7, 8] = aten.embedding.default(weight=%table, indices=%ids) @\"model.embed\"\n";
    std::string hidden = "%h";
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        const std::string path = "\"model.layers." + std::to_string(i);
        const std::string n = std::to_string(i);
        text += "%p" + n + ": f32[1, s7, 8] = aten.pow.Tensor_Scalar(self=" + hidden +
                ", exponent=" + std::to_string(exponents[i]) + ") @" + path + ".norm\"\n";
        text += "%m" + n + ": f32[1, s7, 8] = aten.neg.default(self=%p" + n + ") @" + path + ".norm\"\n";
        text += "%l" + n + ": f32[1, s7, 8] = aten.linear.default(input=%m" + n + ", weight=%w" + n + ") @" +
                path + ".proj\"\n";
        text += "%a" + n + ": f32[1, s7, 8] = aten.add.Tensor(self=" + hidden + ", other=%l" + n + ") @" +
                path + "\"\n";
        hidden = "%a" + n;
    }
    text +=
        "%y: f32[1, s7, 50] = aten.linear.default(input=" + hidden + ", weight=%out) @\"head\"\noutput %y\n";
    return drawn(text);
}

} // namespace workbench
