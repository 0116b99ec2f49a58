#include "fusion/patterns/present.h"

#include <algorithm>

namespace workbench {

bool matchPresent(Search& search, NodeId node, std::string_view role,
                  std::initializer_list<std::string_view> ops) {
    const GraphView& view = search.view();
    if (node == kNone || std::find(ops.begin(), ops.end(), view.op(node)) == ops.end())
        return false;
    search.require(true, node, "the graph already has the fused op", [&] { return view.node(node).op; });
    for (const Argument& argument : view.node(node).arguments) {
        if (const auto* real = std::get_if<double>(&argument.value))
            search.fact(argument.name, *real);
        else if (const auto whole = integer(&argument.value))
            search.fact(argument.name, *whole);
        else if (const auto* word = std::get_if<std::string>(&argument.value))
            search.fact(argument.name, *word);
        else if (argument.name == "sinks" || argument.name == "slopes")
            search.fact(argument.name, !std::holds_alternative<None>(argument.value));
    }
    search.role(role, node);
    search.present();
    return true;
}

} // namespace workbench
