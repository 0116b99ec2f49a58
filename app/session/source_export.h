#pragma once

#include "app/session/session.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace workbench {

struct SourceReport {
    std::size_t classes = 0; ///< rewritten module classes
    std::size_t sites = 0;   ///< applied sites
    std::size_t sitesWithForm = 0;
    std::map<std::string, std::size_t> reasons; ///< why sites have no source form, with their number
};

/// For each module class that the applied sites rewrite: its forward before and after as source and as a
/// unified diff, and index.json.
Result<SourceReport> exportSource(Session& session, const std::filesystem::path& folder, const Job& job);

/// Of the request to the tracer and of the index.json that it writes.
inline constexpr std::int64_t kSourceSchema = 1;
/// index.json of such a folder: "classes" is a list, "sites" an object of objects.
Result<nlohmann::json> readSourceIndex(const std::filesystem::path& folder);

} // namespace workbench
