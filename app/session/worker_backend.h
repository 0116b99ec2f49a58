#pragma once

#include "app/session/detokenizer.h"
#include "app/session/runtime.h"
#include "app/session/session.h"
#include "app/session/worker_link.h"

#include <condition_variable>
#include <thread>

namespace workbench {

struct EngineSettings {
    std::int64_t batchTokens = 0;  ///< computed in one step at most; 0: the engine's default
    std::int64_t kvCacheBytes = 0; ///< 0: as the machine allows
    std::int64_t queue = 0;        ///< requests that wait at most; 0: the engine's default
};

struct WorkerBackendOptions {
    std::string worker;      ///< command, see Runtime
    std::string workerModel; ///< see Runtime
    std::string modelName;   ///< as requests name the model
    EngineSettings engine;
    std::function<void(const std::string&)> onNotice; ///< what an operator should know; from any thread
    std::string weightFormat = kStoredWeights;        ///< see Runtime
    std::string device = kCpuDevice;                  ///< see Runtime
};

/// A session's rewritten model in the worker, with its tokenizer. After the worker's death what was running
/// ends with an Error, and the model is loaded anew.
class WorkerBackend : public TextBackend {
public:
    /// Needs a model directory with weights and tokenizer. Comes back when the first request can be taken.
    static Result<std::unique_ptr<WorkerBackend>> create(Session& session, WorkerBackendOptions options,
                                                         const Job& job);
    ~WorkerBackend() override;

    const ServedModel& model() const override { return m_model; }
    Result<Tokens> encode(std::string_view text) override;
    Result<Tokens> chat(const nlohmann::json& messages, const nlohmann::json& variables) override;
    Result<std::string> decode(const Tokens& tokens) override { return m_prompts.decode(tokens); }
    Result<std::vector<TokenPiece>> pieces(const Tokens& tokens) override;
    Id submit(TextRequest request, TextEvents events) override;
    void cancel(Id id) override;
    bool ready() const override;
    std::optional<BackendStats> stats() override;

private:
    WorkerBackend(Session& session, std::shared_ptr<const Rewritten> program, WorkerBackendOptions options);
    Status load(const Job& job);
    void keepLoaded();
    void workerDied(const Error& error);
    void tellNote(const std::string& note);
    std::shared_ptr<WorkerLink> link() const;

    const WorkerBackendOptions m_options;
    const std::shared_ptr<const TracedModel> m_traced;
    const std::shared_ptr<const Rewritten> m_program;
    const Locations m_locations;
    ServedModel m_model;
    // Two helpers: a long prompt does not hold up the texts of others.
    TokenizerService m_prompts;
    TokenizerService m_texts;
    Detokenizer m_detokenizer;

    CancelToken m_stop;
    mutable std::mutex m_mutex;
    std::string m_note; ///< what the worker last said of how the program runs
    std::condition_variable m_changed;
    bool m_died = false;
    std::shared_ptr<WorkerLink> m_link; ///< none while there is no worker
    std::thread m_keeper;
};

} // namespace workbench
