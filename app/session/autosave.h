#pragma once

#include "app/session/session.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// Unsaved work on one model: what has to be opened, and the plan as it stood.
struct Autosaved {
    std::string model;
    TraceOptions trace;
    std::filesystem::path planFile; ///< the plan's own file; may be empty
    FusionPlan plan;
    std::filesystem::path slot; ///< the folder that holds it
    std::int64_t savedAt = 0;   ///< seconds since 1970
};

/// A place in the cache for the unsaved work of one tab, held by a lock as long as the object lives. After a
/// crash the lock is free and the work is found again; a normal end removes it.
class AutosaveSlot {
public:
    static Result<AutosaveSlot> create(const std::filesystem::path& cache);
    AutosaveSlot(AutosaveSlot&& other) noexcept;
    AutosaveSlot& operator=(AutosaveSlot&&) = delete;
    ~AutosaveSlot(); ///< removes the folder

    Status write(const Autosaved& work) const; ///< atomic; any thread
    void clear() const;                        ///< nothing is unsaved
    const std::filesystem::path& folder() const { return m_folder; }

private:
    AutosaveSlot(std::filesystem::path folder, int lock) : m_folder(std::move(folder)), m_lock(lock) {}
    std::filesystem::path m_folder;
    int m_lock = -1;
};

/// Work of windows that are gone, newest first. Folders that hold none are removed.
std::vector<Autosaved> abandonedWork(const std::filesystem::path& cache);
/// The user does not want it, or has it.
void forgetWork(const Autosaved& work);

} // namespace workbench
