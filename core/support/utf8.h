#pragma once

#include <string_view>

namespace workbench {

/// Whether a text can be put into JSON as it is: well-formed UTF-8 without surrogates (RFC 3629).
bool isUtf8(std::string_view text);

} // namespace workbench
