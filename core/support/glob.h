#pragma once

#include <string_view>

namespace workbench {

/// Whether the whole text matches: `*` stands for any run of characters (dots included), `?` for one, all
/// else for itself.
bool globMatches(std::string_view glob, std::string_view text);

} // namespace workbench
