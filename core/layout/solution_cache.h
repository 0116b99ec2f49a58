#pragma once

#include "core/layout/flat_problem.h"

#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace workbench {

/// Solved problems by content: the latest ones in memory, all in a folder. One thread at a time. What cannot
/// be read or written there is solved again: a cache never fails.
class SolutionCache {
public:
    /// `folder`: may not exist yet; empty: memory alone.
    explicit SolutionCache(std::filesystem::path folder) : m_folder(std::move(folder)) {}

    std::shared_ptr<const FlatSolution> find(const std::string& key, const FlatProblem& problem);
    void add(const std::string& key, std::shared_ptr<const FlatSolution> solution);

private:
    using Entry = std::pair<std::string, std::shared_ptr<const FlatSolution>>;
    std::filesystem::path fileOf(const std::string& key) const;
    void keep(const std::string& key, std::shared_ptr<const FlatSolution> solution);
    void prune();

    std::filesystem::path m_folder;
    bool m_pruned = false;
    std::list<Entry> m_entries; ///< latest first
    std::unordered_map<std::string, std::list<Entry>::iterator> m_byKey;
};

} // namespace workbench
