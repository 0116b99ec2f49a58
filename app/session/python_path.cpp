#include "app/session/python_path.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace workbench {

std::string pythonPath(const std::filesystem::path& packages) {
    std::string folders = packages.string();
    const char* inherited = std::getenv("PYTHONPATH");
    for (std::string_view path = inherited ? inherited : ""; !path.empty();) {
        const std::string_view folder = path.substr(0, path.find(':'));
        if (!folder.empty())
            folders += (folders.empty() ? "" : ":") + std::string(folder);
        path.remove_prefix(std::min(path.size(), folder.size() + 1));
    }
    return folders;
}

} // namespace workbench
