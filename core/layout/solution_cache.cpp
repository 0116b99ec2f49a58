#include "core/layout/solution_cache.h"

#include "core/support/atomic_file.h"
#include "core/support/read_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInMemory = 512;
/// A file has some kilobytes: a few tens of megabytes in all.
constexpr std::size_t kMostFiles = 4000;

} // namespace

fs::path SolutionCache::fileOf(const std::string& key) const {
    return m_folder / (key + ".json");
}

std::shared_ptr<const FlatSolution> SolutionCache::find(const std::string& key, const FlatProblem& problem) {
    if (const auto known = m_byKey.find(key); known != m_byKey.end()) {
        m_entries.splice(m_entries.begin(), m_entries, known->second);
        return known->second->second;
    }
    if (m_folder.empty())
        return nullptr;
    const Result<std::string> text = readFile(fileOf(key));
    if (!text)
        return nullptr;
    auto solution = solutionFromJson(nlohmann::json::parse(*text, nullptr, false), problem);
    if (!solution)
        return nullptr;
    auto shared = std::make_shared<const FlatSolution>(std::move(*solution));
    keep(key, shared);
    return shared;
}

void SolutionCache::add(const std::string& key, std::shared_ptr<const FlatSolution> solution) {
    if (!m_folder.empty()) {
        prune();
        std::error_code error;
        fs::create_directories(m_folder, error);
        (void)writeFileAtomically(fileOf(key), toJson(*solution).dump());
    }
    keep(key, std::move(solution));
}

void SolutionCache::keep(const std::string& key, std::shared_ptr<const FlatSolution> solution) {
    m_entries.emplace_front(key, std::move(solution));
    m_byKey[key] = m_entries.begin();
    if (m_entries.size() > kMostInMemory) {
        m_byKey.erase(m_entries.back().first);
        m_entries.pop_back();
    }
}

/// The older half goes once there are too many; asked once per process.
void SolutionCache::prune() {
    if (std::exchange(m_pruned, true))
        return;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_folder, error))
        files.emplace_back(entry.last_write_time(error), entry.path());
    if (files.size() <= kMostFiles)
        return;
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size() / 2; ++i)
        fs::remove(files[i].second, error);
}

} // namespace workbench
