#pragma once

#include "app/session/job.h"
#include "app/session/locations.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace workbench {

/// Element type to trace in: the checkpoint's own, or another one.
enum class TraceDtype { automatic, f32, bf16 };

/// The words for it; the first one of each type is how we write it.
inline constexpr std::array<std::pair<std::string_view, TraceDtype>, 5> kTraceDtypes = {
    {{"auto", TraceDtype::automatic},
     {"f32", TraceDtype::f32},
     {"bf16", TraceDtype::bf16},
     {"float32", TraceDtype::f32},
     {"bfloat16", TraceDtype::bf16}}};
std::string nameOf(TraceDtype dtype);
std::optional<TraceDtype> traceDtypeFromName(std::string_view name);

inline constexpr std::chrono::seconds kLongestTimeLimit{365 * 24 * 3600}; ///< more would not fit into a clock

struct TraceOptions {
    TraceDtype dtype = TraceDtype::automatic;
    bool trustRemoteCode = false;
    bool replica = false; ///< a reduced-size copy with random weights instead of the model itself
    std::chrono::seconds timeLimit{0}; ///< 0: none
    bool needsWeights = true; ///< an org/name that is not in the cache is downloaded with its weights
};

/// The Python tracer as a subprocess: starts it, forwards its progress, turns its failures into Errors.
/// Stateless; any thread.
class Tracer {
public:
    static Result<Tracer> create(const Locations& locations);

    struct Resolved {
        std::filesystem::path path;
        std::string warning; ///< the weights that are needed are not there; "": none
    };
    /// The directory of "org/name[@revision]": from the local Hugging Face cache; what is not there is
    /// downloaded, the weights only where they are needed.
    Result<Resolved> resolve(const std::string& name, bool needsWeights, const Job& job) const;
    /// Names everything that the trace depends on.
    Result<std::string> cacheKey(const std::filesystem::path& model, const TraceOptions& options,
                                 const Job& job) const;
    /// Writes the trace directory `out` (trace.pt2, trace.json), which must not exist yet.
    Status trace(const std::filesystem::path& model, const std::filesystem::path& out,
                 const TraceOptions& options, const Job& job) const;
    /// Writes the source forms that the request file asks for into `out`; returns the tracer's last message.
    Result<nlohmann::json> writeSources(const std::filesystem::path& request,
                                        const std::filesystem::path& out, const Job& job) const;

    /// The command line of one of its subcommands, for a helper that the caller runs itself (the tokenizer).
    std::vector<std::string> commandWords(std::vector<std::string> arguments) const;
    const std::filesystem::path& python() const { return m_python; }
    const std::filesystem::path& packages() const { return m_packages; }

private:
    /// Runs a subcommand to its end; its last message that is no progress.
    Result<nlohmann::json> run(std::vector<std::string> arguments, std::chrono::seconds timeLimit,
                               const Job& job) const;

    std::filesystem::path m_python;
    std::filesystem::path m_packages; ///< resources/python
};

/// PYTHONPATH and what keeps Python's output clean, for a helper in the packages folder.
std::map<std::string, std::string> pythonEnvironment(const std::filesystem::path& packages);

} // namespace workbench
