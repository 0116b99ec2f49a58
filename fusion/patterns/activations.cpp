#include "fusion/patterns/activations.h"

#include "core/graph/op_classes.h"
#include "fusion/match/graph_view.h"

namespace workbench {

std::string activationKernel(const Node& node) {
    const std::string_view op = baseName(node.op);
    if (op == "aten.gelu") {
        const ArgumentValue* given = argument(node, "approximate");
        const auto* approximate = given ? std::get_if<std::string>(given) : nullptr;
        return approximate && *approximate == "tanh" ? "gelu_tanh" : "gelu";
    }
    if (op == "aten.silu" || op == "aten.relu" || op == "aten.sigmoid")
        return std::string(op.substr(op.find('.') + 1));
    return {};
}

} // namespace workbench
