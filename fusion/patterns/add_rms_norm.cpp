#include "fusion/match/expression.h"
#include "fusion/patterns/list.h"
#include "fusion/patterns/present.h"
#include "fusion/patterns/rms_norm.h"

/// add-rms-norm:  sum = input + residual;  y = rms_norm(sum)
///
///     input, residual --> + --> rms-norm --> y         (the sum goes on as the next residual)
///                         `--> sum
///     becomes   input, residual, weight --> workbench.add_rms_norm --> y, sum
///
/// The sum and the norm mostly belong to different modules: the block adds, the next norm (often of the next
/// layer) reads. The sum may have any other users. Refused: operands that are spread out or widened, a sum
/// with a factor, and what rms-norm refuses.

namespace workbench {
namespace {

bool matchAddNorm(Search& search, NodeId place) {
    if (matchPresent(search, place, "norm", "add-rms-norm"))
        return true;
    const GraphView& view = search.view();
    if (view.op(place).starts_with("workbench."))
        return search.require(false, place, "the normed value is a sum", [&] { return view.node(place).op; });
    if (!matchNorm(search, place))
        return false;
    const ValueId sum = search.value("x");
    if (!search.requireOp(sum, "aten.add", place, "the normed value is a sum"))
        return false;
    const NodeId add = view.producer(sum);
    const Node& node = view.node(add);
    const ValueId residual = operand(node, "self"), input = operand(node, "other");
    if (!search.require(input != kNone && isAbsent(argument(node, "alpha")), add, "a sum of two tensors",
                        [&] { return "other=" + describe(view.graph(), argument(node, "other")); }))
        return false;
    for (const ValueId value : {residual, input})
        if (!search.require(
                view.meta(value) == view.meta(sum), add, "both operands have the shape and dtype of the sum",
                [&] { return view.describe(value) + " in " + std::string(name(view.meta(value).dtype)); }))
            return false;
    search.take(add);
    search.role("add", add);
    search.output(sum);
    search.capture("input", input);
    search.capture("residual", residual);
    return true;
}

void build(const MatchContext&, const Match& match, Replacement& replacement) {
    std::vector<Argument> arguments{tensor("input", match.value("input")),
                                    tensor("residual", match.value("residual"))};
    for (Argument& argument : normArguments(match))
        arguments.push_back(std::move(argument));
    replacement.add("workbench.add_rms_norm", std::move(arguments), {match.value("y"), match.value("x")});
}

} // namespace

Pattern addRmsNorm() {
    return {.name = "add-rms-norm",
            .summary = "a residual sum and the RMSNorm that reads it, across module borders",
            .formula = "sum = input + residual;  y = sum * rsqrt(mean(sum^2) + eps) * (offset + weight)",
            .sketch = "input, residual -> + -> rms-norm -> y\n"
                      "                     `-> sum\n"
                      "input, residual, weight -> add_rms_norm -> y, sum",
            .explanation = "The residual sum is normalised while it is in registers instead of being "
                           "written and read again. The sum and the norm may belong to different "
                           "modules, also to different layers, and the sum may be read by others. "
                           "Seen in nearly every decoder. Contains rms-norm: where this is rejected, "
                           "the norm alone can still be fused.",
            .refuses = "operands of another shape or dtype than the sum, a sum with a factor, a "
                       "normed value that is no sum, and whatever rms-norm refuses",
            .op = "workbench.add_rms_norm",
            .contains = {"rms-norm"},
            .counted = Counted::norms,
            .places = normPlaces,
            .match = matchAddNorm,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
