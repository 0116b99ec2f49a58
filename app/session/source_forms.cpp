#include "app/session/source_forms.h"

#include "app/session/source_export.h"
#include "core/support/read_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A folder that is gone with the object.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string pattern = (fs::temp_directory_path() / "workbench-source-XXXXXX").string();
        if (const char* made = ::mkdtemp(pattern.data()))
            m_path = made;
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        if (!m_path.empty())
            fs::remove_all(m_path, ignored);
    }
    const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

Result<SourceForm> readForm(const json& entry, const fs::path& folder) {
    SourceForm form;
    form.className = entry.value("class", "");
    form.file = entry.value("source", "");
    form.line = entry.value("line", std::int64_t{0});
    form.patterns = entry.value("patterns", std::vector<std::string>{});
    form.instances = entry.value("instances", std::vector<std::string>{});
    for (const auto& [key, text] : {std::pair{"diff", &form.diff}, std::pair{"python", &form.python}}) {
        auto read = readFile(folder / entry.value(key, ""));
        if (!read)
            return read.error();
        *text = std::move(read).value();
    }
    return form;
}

} // namespace

Result<SourceForms> readSourceForms(const fs::path& folder) {
    auto index = readSourceIndex(folder);
    if (!index)
        return index.error();
    SourceForms forms;
    std::map<std::string, std::size_t> byFile;
    try {
        for (const json& entry : (*index)["classes"]) {
            auto form = readForm(entry, folder);
            if (!form)
                return form.error();
            byFile.emplace(entry.value("python", ""), forms.classes.size());
            forms.classes.push_back(std::move(form).value());
        }
        for (const auto& [id, site] : (*index)["sites"].items()) {
            for (const char* key : {"form", "partial"})
                if (site.contains(key) && site[key].is_object())
                    if (const auto found = byFile.find(site[key].value("python", "")); found != byFile.end())
                        forms.formOfSite.emplace(id, found->second);
            if (site.contains("reason"))
                forms.reasons.emplace(id, site.value("reason", ""));
        }
    } catch (const json::exception& failure) {
        const std::string where = (folder / "index.json").string();
        return Error{ErrorCode::badInput, where + " is not what the tracer writes: " + failure.what(), where};
    }
    return forms;
}

Result<SourceForms> sourceForms(Session& session, const Job& job) {
    const ScratchFolder scratch;
    if (scratch.path().empty())
        return Error{ErrorCode::badInput,
                     "a temporary folder cannot be made: " + std::string(std::strerror(errno)),
                     {}};
    const fs::path folder = scratch.path() / "source";
    if (auto written = exportSource(session, folder, job); !written)
        return written.error();
    return readSourceForms(folder);
}

} // namespace workbench
