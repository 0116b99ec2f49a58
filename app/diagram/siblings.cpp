#include "app/diagram/siblings.h"

#include "core/graph/module_path.h"

#include <algorithm>
#include <charconv>

namespace workbench {

std::string siblingOf(const Graph& graph, const std::string& module, int step) {
    for (std::size_t end = module.size(); end > 0;) {
        const std::size_t dot = module.rfind('.', end - 1);
        const std::size_t start = dot == std::string::npos ? 0 : dot + 1;
        const std::string_view name = std::string_view(module).substr(start, end - start);
        if (isNumberPart(name)) {
            int number = 0;
            std::from_chars(name.data(), name.data() + name.size(), number);
            const std::string path =
                module.substr(0, start) + std::to_string(number + step) + module.substr(end);
            const bool known = std::any_of(graph.modules.begin(), graph.modules.end(),
                                           [&](const ModuleInfo& other) { return other.path == path; });
            return known ? path : std::string();
        }
        end = start == 0 ? 0 : start - 1;
    }
    return {};
}

} // namespace workbench
