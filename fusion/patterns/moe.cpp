#include "fusion/experts.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/moe_parts.h"
#include "fusion/patterns/present.h"

/// moe:  y[t] = sum_j w[t, j] * D[e] (act(G[e] x[t]) * U[e] x[t]),  e = indices[t, j]
///
///     indices --> pick from the 3-D gate_up --.
///     x --> repeat each token k times --> column --> bmm --> halves --> act, * --> column --.
///     indices --> pick from the 3-D down -------------------------------------------------> bmm --> * w
///       --> [tokens, k, hidden] --> sum over k --> y
///     becomes   x, w, indices, gate_up, down --> workbench.moe_experts --> y
///
/// The place is the first pick out of a 3-D weight by computed indices, whatever module it is in; routing
/// weights and indices may come from anywhere. Refused: a bias, a clamp, weights that are stored [experts,
/// inputs, outputs], gate and up swapped or interleaved, no gate, indices that are clamped or differ between
/// the two weights, a norm after the experts, a sum over another dim.

namespace workbench {
namespace {

std::vector<NodeId> expertPlaces(const MatchContext& context) {
    std::vector<NodeId> places;
    for (const ExpertBlock& block : expertBlocks(context.view()))
        places.push_back(block.gathers.front());
    return places;
}

bool matchMoe(Search& search, NodeId place) {
    if (matchPresent(search, place, "experts", "moe"))
        return true;
    const GraphView& view = search.view();
    if (!matchExpertProducts(search, place) || !matchRouting(search, place))
        return false;
    const SymShape& first = view.meta(search.value("gate_up")).shape;
    const SymShape& second = view.meta(search.value("down")).shape;
    if (!search.require(first[0] == second[0], place, "both weights have one number of experts",
                        [&] { return shapeText(view, search.value("down")); }))
        return false;
    search.role("experts", place);
    search.fact("experts", first[0].constant());
    search.fact("top_k", view.meta(search.value("weights")).shape[1].constant());
    return true;
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    replacement.locateAt(context.view().producer(match.value("y")));
    replacement.add("workbench.moe_experts",
                    {tensor("hidden", match.value("x")), tensor("routing_weights", match.value("weights")),
                     tensor("indices", match.value("indices")), tensor("gate_up", match.value("gate_up")),
                     tensor("down", match.value("down")),
                     text("activation", match.fact<std::string>("activation", ""))},
                    {match.value("result")});
}

} // namespace

Pattern moe() {
    return {.name = "moe",
            .summary = "the experts of a mixture: both products, activation, routing weights and sum",
            .formula = "y[t] = sum_j w[t, j] * D[e] (act(G[e] x[t]) * U[e] x[t]),  e = indices[t, j]",
            .sketch = "indices -> pick gate_up --.\n"
                      "x -> repeat k times ---> bmm -> halves -> act, * --> bmm -> * w -> sum over k -> y\n"
                      "indices -> pick down ----------------------------'\n"
                      "x, w, indices, gate_up, down -> moe_experts -> y",
            .explanation = "The traced graph copies two matrices for each pair of token and expert; "
                           "the op sorts the pairs by expert and reads every expert that was chosen "
                           "once. Seen in Mixtral, Qwen3-MoE, OLMoE and DeepSeek; the experts are found "
                           "by their 3-D weights and by where the indices go, the router may be any.",
            .refuses = "biases, clamps, weights that are stored [experts, inputs, outputs], gate and up "
                       "swapped or interleaved, experts without a gate, indices that are clamped for "
                       "expert parallelism, a norm after the experts",
            .op = "workbench.moe_experts",
            .counted = Counted::experts,
            .places = expertPlaces,
            .match = matchMoe,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
