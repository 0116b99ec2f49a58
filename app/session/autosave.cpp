#include "app/session/autosave.h"

#include "core/support/atomic_file.h"
#include "core/support/read_file.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path stateFile(const fs::path& folder) {
    return folder / "work.json";
}

/// The lock of a slot, or -1 when its window lives.
int tryLock(const fs::path& folder) {
    const int fd = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        ::close(fd);
        return -1;
    }
    return fd;
}

void removeFolder(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Result<Autosaved> read(const fs::path& folder) {
    auto text = readFile(stateFile(folder));
    if (!text)
        return text.error();
    const json state = json::parse(*text, nullptr, false);
    const Error broken{ErrorCode::badInput, "the autosaved work in " + folder.string() + " cannot be read",
                       folder.string()};
    if (!state.is_object() || !state.contains("plan") || !state["plan"].is_string())
        return broken;
    auto plan = planFromJson(state["plan"].get<std::string>(), stateFile(folder).string());
    if (!plan)
        return plan.error();
    Autosaved work;
    work.model = state.value("model", "");
    work.trace.dtype = static_cast<TraceDtype>(std::clamp(state.value("dtype", 0), 0, 2));
    work.planFile = state.value("planFile", "");
    work.plan = std::move(plan).value();
    work.slot = folder;
    work.savedAt = state.value("savedAt", std::int64_t{0});
    return work;
}

} // namespace

Result<AutosaveSlot> AutosaveSlot::create(const fs::path& cache) {
    const fs::path root = cache / "autosave";
    std::error_code error;
    fs::create_directories(root, error);
    std::string pattern = (root / "XXXXXX").string();
    const char* made = ::mkdtemp(pattern.data());
    const int lock = made ? tryLock(made) : -1;
    if (lock < 0)
        return Error{ErrorCode::badInput,
                     "unsaved work cannot be kept in " + root.string() + ": " + std::strerror(errno) +
                         "; it is lost if the window crashes",
                     root.string()};
    return AutosaveSlot(made, lock);
}

AutosaveSlot::AutosaveSlot(AutosaveSlot&& other) noexcept
    : m_folder(std::exchange(other.m_folder, {})), m_lock(std::exchange(other.m_lock, -1)) {}

AutosaveSlot::~AutosaveSlot() {
    if (m_lock < 0)
        return;
    removeFolder(m_folder);
    ::close(m_lock);
}

/// Trust in the model's code is not kept: a window that comes back asks again.
Status AutosaveSlot::write(const Autosaved& work) const {
    const json state = {{"model", work.model},
                        {"dtype", static_cast<int>(work.trace.dtype)},
                        {"planFile", work.planFile.string()},
                        {"savedAt", now()},
                        {"plan", toJson(work.plan)}};
    return writeFileAtomically(stateFile(m_folder),
                               state.dump(-1, ' ', false, json::error_handler_t::replace));
}

void AutosaveSlot::clear() const {
    std::error_code ignored;
    fs::remove(stateFile(m_folder), ignored);
}

std::vector<Autosaved> abandonedWork(const fs::path& cache) {
    std::vector<Autosaved> found;
    std::error_code error;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(cache / "autosave", error))
        folders.push_back(entry.path());
    for (const fs::path& folder : folders) {
        const int lock = tryLock(folder);
        if (lock < 0)
            continue;
        if (auto work = read(folder))
            found.push_back(std::move(work).value());
        else
            removeFolder(folder);
        ::close(lock);
    }
    std::sort(found.begin(), found.end(),
              [](const Autosaved& a, const Autosaved& b) { return a.savedAt > b.savedAt; });
    return found;
}

void forgetWork(const Autosaved& work) {
    if (!work.slot.empty())
        removeFolder(work.slot);
}

} // namespace workbench
