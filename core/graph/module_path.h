#pragma once

#include <string_view>

namespace workbench {

/// True for the module `ancestor` itself and all below it ("layers.10" is not below "layers.1"); "" holds
/// all.
inline bool isWithin(std::string_view path, std::string_view ancestor) {
    return ancestor.empty() ||
           (path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '.'));
}

} // namespace workbench
