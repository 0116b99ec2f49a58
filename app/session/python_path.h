#pragma once

#include <filesystem>
#include <string>

namespace workbench {

/// PYTHONPATH for a helper: our packages (where there are some), then the folders of the caller's own. An
/// empty entry, which stands for the current folder, is left out: that may be the folder of a model.
std::string pythonPath(const std::filesystem::path& packages = {});

} // namespace workbench
