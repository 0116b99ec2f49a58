#include "app/session/own_code.h"

#include "core/support/read_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kLargestConfig = 16 << 20; // bytes

void collectNames(const json& value, std::set<std::string>& names) {
    if (value.is_string())
        names.insert(value.get<std::string>());
    else if (value.is_structured())
        for (const json& part : value)
            collectNames(part, names);
}

} // namespace

OwnCode ownCodeOf(const fs::path& directory) {
    OwnCode code{directory, {}, {}};
    auto text = readFile(directory / "config.json", kLargestConfig);
    const json config = text ? json::parse(*text, nullptr, false) : json();
    if (!config.is_object() || !config.contains("auto_map"))
        return code;
    std::set<std::string> names;
    collectNames(config["auto_map"], names);
    code.classes.assign(names.begin(), names.end());
    // A class's module may import its neighbours: all Python files of the directory may run.
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error))
        if (entry.path().extension() == ".py")
            code.files.push_back(entry.path());
    std::sort(code.files.begin(), code.files.end());
    return code;
}

fs::path untrustedDirectory(const Error& error) {
    const fs::path where = error.where;
    const bool asks = error.message.find("--trust-remote-code") != std::string::npos;
    return asks && where.filename() == "config.json" ? where.parent_path() : fs::path();
}

} // namespace workbench
