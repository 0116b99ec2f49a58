#pragma once

#include <algorithm>
#include <string_view>

namespace workbench {

/// True for the module `ancestor` itself and all below it ("layers.10" is not below "layers.1"); "" holds
/// all.
inline bool isWithin(std::string_view path, std::string_view ancestor) {
    return ancestor.empty() ||
           (path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '.'));
}

/// "3" of "layers.3"; the path itself when it has one part.
inline std::string_view lastPart(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
}

/// Does this part of a path number modules ("3")? Of at most nine digits, so that it fits into an int.
inline bool isNumberPart(std::string_view part) {
    return !part.empty() && part.size() < 10 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace workbench
