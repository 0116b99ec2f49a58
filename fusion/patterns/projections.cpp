#include "fusion/patterns/projections.h"

#include "core/graph/text.h"

namespace workbench {
namespace {

std::string usesText(const GraphView& view, ValueId value) {
    const std::size_t uses = view.uses(value).size();
    return view.describe(value) + " is used " + (uses == 1 ? "once" : std::to_string(uses) + " times");
}

bool matchWeight(Search& search, NodeId node, ValueId weight, const TensorMeta& first) {
    const GraphView& view = search.view();
    const TensorMeta& meta = view.meta(weight);
    return search.require(view.isParameter(weight), node, "the weights are parameters",
                          [&] { return view.describe(weight); }) &&
           search.require(view.uses(weight).size() == 1, node, "each weight is used once",
                          [&] { return usesText(view, weight); }) &&
           search.require(meta.shape.size() == 2 && meta.shape[0].isConstant() && meta.dtype == first.dtype &&
                              meta.shape[1] == first.shape[1],
                          node, "the weights have one dtype and one input width",
                          [&] { return view.describe(weight) + " " + print(meta); });
}

bool matchBias(Search& search, NodeId node, ValueId bias, ValueId first) {
    const GraphView& view = search.view();
    if (!search.require((bias == kNone) == (first == kNone), node, "all projections have a bias, or none",
                        [&] {
                            return bias == kNone    ? "no bias here"
                                   : first == kNone ? "a bias only here"
                                                    : view.describe(bias);
                        }))
        return false;
    return bias == kNone ||
           (search.require(view.isParameter(bias), node, "the biases are parameters",
                           [&] { return view.describe(bias); }) &&
            search.require(view.uses(bias).size() == 1, node, "each bias is used once",
                           [&] { return usesText(view, bias); }) &&
            search.require(view.meta(bias).dtype == view.meta(first).dtype, node, "the biases have one dtype",
                           [&] { return print(view.meta(bias)); }) &&
            search.require(view.meta(bias).shape == SymShape{view.meta(view.result(node)).shape.back()}, node,
                           "a bias has one number per column", [&] { return print(view.meta(bias)); }));
}

/// "model.layers.0.self_attn.q_proj.weight" -> "model.layers.0.self_attn.qkv_proj.weight".
std::string mergedName(std::string_view source, std::string_view module, std::string_view kind) {
    std::string_view parent =
        source.substr(0, source.rfind('.') == std::string_view::npos ? 0 : source.rfind('.'));
    parent = parent.substr(0, parent.rfind('.') == std::string_view::npos ? 0 : parent.rfind('.'));
    return std::string(parent) + (parent.empty() ? "" : ".") + std::string(module) + "." + std::string(kind);
}

/// May this projection be merged with the first one?
bool matchProjection(Search& search, NodeId node, const Node& first) {
    const GraphView& view = search.view();
    const ValueId input = operand(first, "input"), read = operand(view.node(node), "input");
    return search.require(read == input, node, "all projections read " + view.describe(input),
                          [&] { return view.describe(read); }) &&
           matchWeight(search, node, operand(view.node(node), "weight"),
                       view.meta(operand(first, "weight"))) &&
           matchBias(search, node, operand(view.node(node), "bias"), operand(first, "bias"));
}

} // namespace

bool matchProjections(Search& search, const std::vector<Projection>& projections) {
    const GraphView& view = search.view();
    const Node& first = view.node(projections.front().node);
    const ValueId input = operand(first, "input");
    DerivedParameter weights, biases;
    std::vector<std::int64_t> sizes;
    for (const Projection& projection : projections) {
        const Node& node = view.node(projection.node);
        if (!matchProjection(search, projection.node, first))
            return false;
        const ValueId weight = operand(node, "weight"), bias = operand(node, "bias");
        weights.sources.push_back(view.input(weight)->target);
        if (bias != kNone)
            biases.sources.push_back(view.input(bias)->target);
        sizes.push_back(view.meta(weight).shape[0].constant());
        search.take(projection.node);
        search.role(projection.role, projection.node);
        search.capture(projection.role, view.result(projection.node));
    }
    search.capture("input", input);
    search.fact("sizes", std::move(sizes));
    search.derived(std::move(weights));
    if (!biases.sources.empty())
        search.derived(std::move(biases));
    return true;
}

ValueId buildMerged(const MatchContext& context, const Match& match,
                    const std::vector<std::string_view>& roles, std::string_view name,
                    Replacement& replacement) {
    const GraphView& view = context.view();
    const Node& first = view.node(view.producer(match.value(roles.front())));
    SymInt width(0);
    for (const std::string_view role : roles)
        width = width + view.meta(match.value(role)).shape.back();
    const auto merged = [&](std::size_t index, ValueId like, std::string_view kind) {
        const DerivedParameter& from = match.derived[index];
        TensorMeta meta = view.meta(like);
        meta.shape[0] = width;
        return replacement.derived(mergedName(from.sources.front(), name, kind), from, std::move(meta));
    };
    std::vector<Argument> arguments{tensor("input", match.value("input")),
                                    tensor("weight", merged(0, operand(first, "weight"), "weight"))};
    if (const ValueId bias = operand(first, "bias"); bias != kNone)
        arguments.push_back(tensor("bias", merged(1, bias, "bias")));
    TensorMeta meta = view.meta(match.value(roles.front()));
    meta.shape.back() = width;
    const ValueId output =
        replacement.fresh(view.graph().value(match.value(roles.front())).name + "_merged", std::move(meta));
    replacement.add("aten.linear.default", std::move(arguments), {output});
    return output;
}

} // namespace workbench
