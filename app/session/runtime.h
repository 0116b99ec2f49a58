#pragma once

#include "app/session/json_fields.h"
#include "app/session/locations.h"
#include "app/session/traced_model.h"
#include "app/session/weight_format.h"
#include "app/session/worker_client.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace workbench {

inline constexpr const char* kCpuDevice = "cpu";

/// The worker of a session, started when it is first needed. After its death the next call starts another
/// one, with nothing loaded.
class Runtime {
public:
    /// `command`: what --worker says; empty for the worker beside this program. `modelThere`: the model's
    /// directory where that worker runs; empty: as here. `weightFormat`: one of kWeightFormats. `device`:
    /// where programs run that are loaded without one, see load().
    explicit Runtime(Locations locations, std::string command = {}, std::filesystem::path modelThere = {},
                     std::string weightFormat = kStoredWeights, std::string device = kCpuDevice)
        : m_locations(std::move(locations)), m_command(std::move(command)),
          m_modelThere(std::move(modelThere)), m_weightFormat(std::move(weightFormat)),
          m_device(std::move(device)) {}

    /// Whether the parameters have data, here or where the worker runs.
    bool hasWeights(const TracedModel& model) const { return model.hasWeights || !m_modelThere.empty(); }
    bool workerIsElsewhere() const { return !m_command.empty(); } ///< or may be: a command was named
    bool modelIsElsewhere() const { return !m_modelThere.empty(); }
    const std::string& weightFormat() const { return m_weightFormat; }
    /// `onNotice`: told, in a sentence, what the worker does otherwise than was asked for; from the thread of
    /// the call.
    void setNotices(std::function<void(const std::string&)> onNotice) { m_onNotice = std::move(onNotice); }
    /// Tells a sentence once.
    void tell(const std::string& sentence);
    /// What load() takes for the model, in the runtime's format.
    nlohmann::json weightsOf(const TracedModel& model) const;

    /// Compiles a graph under a name; programs of equal parameters share their weights.
    /// `device`: one of the hello's "devices", or "cuda" for the first GPU; empty: the runtime's.
    Status load(const std::string& name, const Graph& graph, nlohmann::json weights, const Job& job,
                const std::string& device = {});
    /// By program that was loaded with weights in fewer bits: what became of the matrices that its products
    /// read, see product_weights.h.
    const nlohmann::json& products() const { return m_products; }
    /// Makes the hand-written code of a model under a name, on weights shared with its programs. An Error of
    /// code requirementFailed says why there is none for this model.
    Status loadNative(const std::string& name, const TracedModel& model, nlohmann::json weights,
                      const Job& job);
    Result<WorkerClient::Answer> call(const std::string& method, nlohmann::json params, const Job& job,
                                      const WorkerClient::EventHandler& onEvent = {});
    /// During a call, from its event handler: tells the worker what has no answer of its own.
    Status notify(const std::string& method, nlohmann::json params);
    /// The worker with what is loaded; the next call starts another one.
    Result<WorkerClient> takeWorker(const Job& job);
    /// What the worker said of itself; starts it.
    Result<nlohmann::json> hello(const Job& job);

private:
    Status ensure(const Job& job);
    /// The archive of `weights` as the worker finds it.
    Status sendWeights(nlohmann::json& weights, const Job& job);
    /// Sends the traced archive to a worker elsewhere; the path that it has there.
    Result<std::string> sendArchive(const std::filesystem::path& archive, const Job& job);
    Error withPlace(Error error) const;
    void noteProducts(const std::string& program, const nlohmann::json& answer, const std::string& format);

    Locations m_locations;
    std::string m_command;
    std::filesystem::path m_modelThere;
    std::string m_weightFormat;
    std::string m_device;
    std::function<void(const std::string&)> m_onNotice;
    std::set<std::string> m_noticed; ///< sentences that were told
    nlohmann::json m_products = nlohmann::json::object();
    std::optional<WorkerClient> m_worker;
    std::map<std::string, std::string, std::less<>>
        m_sent; ///< SHA-256 of an archive -> its path in the worker
};

/// Logits [rows, vocabulary] of a program.
struct Logits {
    std::int64_t rows = 0;
    std::int64_t vocabulary = 0;
    std::vector<std::byte> bytes; ///< f32, row-major, in this machine's byte order
    const float* data() const { return reinterpret_cast<const float*>(bytes.data()); }
    std::size_t size() const { return bytes.size() / sizeof(float); }
};

/// How a program comes to its logits.
enum class LogitsBy {
    wholeSequences, ///< all tokens at once
    engine,         ///< as the batching engine does: in chunks, over a paged KV cache
};
/// requirementFailed: the program cannot be run by the engine.
Result<Logits> runLogits(Runtime& runtime, const std::string& program,
                         const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& positions,
                         const std::vector<std::int64_t>& rows, const Job& job,
                         LogitsBy by = LogitsBy::wholeSequences);

} // namespace workbench
