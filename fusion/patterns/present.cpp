#include "fusion/patterns/present.h"

#include "fusion/match/pattern.h"

#include <algorithm>

namespace workbench {

bool isFusedOp(std::string_view op, std::string_view pattern) {
    const auto all = patterns();
    return !op.empty() && std::any_of(all.begin(), all.end(), [&](const Pattern& known) {
        return known.op == op &&
               (known.name == pattern ||
                std::find(known.contains.begin(), known.contains.end(), pattern) != known.contains.end());
    });
}

bool matchPresent(Search& search, NodeId node, std::string_view role, std::string_view pattern,
                  std::initializer_list<std::string_view> optional) {
    const GraphView& view = search.view();
    if (node == kNone || !isFusedOp(view.op(node), pattern))
        return false;
    search.require(true, node, "the graph already has the fused op", [&] { return view.node(node).op; });
    for (const Argument& argument : view.node(node).arguments) {
        if (const auto* real = std::get_if<double>(&argument.value))
            search.fact(argument.name, *real);
        else if (const auto whole = integer(&argument.value))
            search.fact(argument.name, *whole);
        else if (const auto* word = std::get_if<std::string>(&argument.value))
            search.fact(argument.name, *word);
        else if (std::find(optional.begin(), optional.end(), argument.name) != optional.end())
            search.fact(argument.name, !std::holds_alternative<None>(argument.value));
    }
    search.role(role, node);
    search.present();
    return true;
}

} // namespace workbench
