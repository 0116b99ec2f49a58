#include "app/session/source_export.h"

#include "core/support/read_file.h"
#include "core/support/strict_json.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json nodeJson(const Graph& graph, const std::string& role, NodeId id) {
    const SourceFrame* frame = graph.sourceFrame(id);
    return {{"op", graph.node(id).op},
            {"module", graph.modulePath(id)},
            {"role", role},
            {"file", frame ? frame->file : ""},
            {"line", frame ? frame->line : 0},
            {"function", frame ? frame->function : ""}};
}

json siteJson(const Graph& graph, const Site& site) {
    json nodes = json::array();
    for (const RoleNode& role : site.roles)
        nodes.push_back(nodeJson(graph, role.role, role.node));
    json params = json::object();
    for (const auto& [name, value] : site.facts)
        params[name] = std::visit([](const auto& fact) -> json { return fact; }, value);
    // Which parameters a site reads, and in which order it merges them, are facts of the graph, too.
    if (!site.derived.empty())
        params["weights"] = site.derived.front().sources;
    else if (site.parameters.size() == 1)
        params["weight"] = site.parameters.front();
    return {{"id", site.id},
            {"pattern", site.pattern},
            {"module", site.module},
            {"nodes", nodes},
            {"params", params}};
}

/// The dtype that was traced, as torch calls it: only a trace that rounds tells in which order a norm casts.
std::string torchDtype(const std::string& name) {
    const auto dtype = scalarTypeFromName(name);
    return dtype ? std::string(torchName(*dtype)) : std::string();
}

json requestJson(const Session& session, const Rewritten& rewritten) {
    const TracedModel& model = session.model();
    json sites = json::array();
    for (std::size_t i = 0; i < model.analysis.sites.size(); ++i)
        if (rewritten.outcomes[i].state == SiteOutcome::State::applied)
            sites.push_back(siteJson(model.canonical, model.analysis.sites[i]));
    return {{"schema", kSourceSchema},
            {"model", model.directory.string()},
            {"trust_remote_code", session.options().trustRemoteCode},
            {"dtype", torchDtype(model.facts.dtype)},
            {"sources", model.sources},
            {"sites", std::move(sites)}};
}

/// A file that is gone with the object.
class TemporaryFile {
public:
    static Result<TemporaryFile> create(const std::string& text) {
        std::error_code error;
        const fs::path temporary = fs::temp_directory_path(error);
        if (error)
            return Error{ErrorCode::badInput,
                         "there is no folder for temporary files: make /tmp or set TMPDIR to one that exists",
                         {}};
        std::string path = (temporary / "workbench-request-XXXXXX").string();
        const int fd = ::mkostemp(path.data(), O_CLOEXEC);
        if (fd < 0)
            return failure(path);
        TemporaryFile file(path);
        const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        if (::close(fd) != 0 || !written)
            return failure(path);
        return file;
    }
    TemporaryFile(TemporaryFile&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile() {
        if (!m_path.empty())
            ::unlink(m_path.c_str());
    }
    const std::string& path() const { return m_path; }

private:
    explicit TemporaryFile(std::string path) : m_path(std::move(path)) {}
    static Error failure(const std::string& path) {
        return {ErrorCode::badInput,
                "the temporary file " + path + " cannot be written: " + std::strerror(errno), path};
    }
    std::string m_path;
};

Result<SourceReport> reportOf(const fs::path& folder) {
    auto index = readSourceIndex(folder);
    if (!index)
        return index.error();
    SourceReport report;
    report.classes = (*index)["classes"].size();
    for (const json& site : (*index)["sites"]) {
        ++report.sites;
        if (const auto form = site.find("form"); form != site.end() && !form->is_null())
            ++report.sitesWithForm;
        else
            ++report.reasons[site.value("reason", json()).is_string() ? site["reason"].get<std::string>()
                                                                      : "no reason was given"];
    }
    return report;
}

} // namespace

Result<SourceReport> exportSource(Session& session, const fs::path& folder, const Job& job) {
    if (session.model().directory.empty() || !session.tracer())
        return Error{ErrorCode::badInput,
                     session.model().archive.string() +
                         " is an archive without modules: source needs a model directory",
                     session.model().archive.string()};
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    auto request = TemporaryFile::create(requestJson(session, **rewritten).dump());
    if (!request)
        return request.error();
    auto written = session.tracer()->writeSources(request->path(), fs::absolute(folder), job);
    if (!written)
        return written.error();
    return reportOf(folder);
}

Result<json> readSourceIndex(const fs::path& folder) {
    const std::string file = (folder / "index.json").string();
    auto text = readFile(file);
    if (!text)
        return text.error();
    auto index = parseJson(*text, file);
    if (!index)
        return index.error();
    JsonFault fault(file + " is not what the tracer writes");
    const JsonView view(*index, "", fault);
    if (view.at("schema").integer() != kSourceSchema && !fault.found())
        view.at("schema").fault("must be " + std::to_string(kSourceSchema));
    view.at("classes").items();
    for (const auto& [id, site] : view.at("sites").members())
        site.members();
    if (fault.found())
        return fault.error();
    return index;
}

} // namespace workbench
