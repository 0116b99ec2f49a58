#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

/// Python files of the model that transformers would run for it (config.json's auto_map), and what they are
/// for: what a user reads before consenting. Empty for a model that transformers knows itself.
struct OwnCode {
    std::filesystem::path directory;
    std::vector<std::filesystem::path> files; ///< that are there
    std::vector<std::string> classes; ///< "modeling_x.XForCausalLM"; "org/name--..." comes from elsewhere
};
OwnCode ownCodeOf(const std::filesystem::path& directory);

/// The directory of the model whose opening failed because its code is not trusted; empty for other failures.
std::filesystem::path untrustedDirectory(const Error& error);

} // namespace workbench
