#include "core/graph/op_kinds.h"

#include <algorithm>
#include <array>

namespace workbench {

bool isAssertion(std::string_view op) {
    static constexpr std::array<std::string_view, 4> kPrefixes{
        "aten._assert", "aten.sym_constrain", "aten._functional_assert", "aten._functional_sym_constrain"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](std::string_view prefix) { return op.starts_with(prefix); });
}

bool isMutation(std::string_view op) {
    static constexpr std::array<std::string_view, 5> kInPlace{"__iand__", "__ior__", "__ixor__",
                                                              "__ilshift__", "__irshift__"};
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos)
        return false;
    const std::size_t second = op.find('.', first + 1);
    const std::string_view name = op.substr(first + 1, second - first - 1);
    const std::string_view overload =
        second == std::string_view::npos ? std::string_view() : op.substr(second + 1);
    if (name.starts_with("__"))
        return std::find(kInPlace.begin(), kInPlace.end(), name) != kInPlace.end();
    return name.ends_with('_') || overload == "out" || overload.ends_with("_out");
}

} // namespace workbench
