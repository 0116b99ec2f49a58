#pragma once

#include "core/support/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Splits a command into words as a shell does with quotes and backslashes, without any expansion:
/// `ssh -p 22 "my box" workbench-worker` has four words. An open quote or an empty command is a usage error.
Result<std::vector<std::string>> splitWords(std::string_view command);

} // namespace workbench
