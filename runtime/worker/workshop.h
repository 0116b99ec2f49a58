#pragma once

#include "runtime/engine/engine.h"
#include "runtime/native/decoder.h"
#include "runtime/program/cached_runner.h"
#include "runtime/program/language_model.h"
#include "runtime/program/weight_store.h"
#include "runtime/worker/received_files.h"
#include "runtime/worker/request.h"

#include <map>
#include <memory>
#include <string>

namespace workbench {

/// The programs that a worker holds, and the weights that they share.
class Workshop {
public:
    /// Answers a request; an unknown method is an Error. "generate" is answered later, by the program's
    /// engine, so that several texts grow side by side, and "stats" meanwhile; everything else waits until
    /// they are done, since a program serves one thread.
    void handle(const std::shared_ptr<Request>& request);
    /// Until everything is answered.
    void finish();

private:
    Result<Reply> hello(const Request& request);
    /// Keeps the payload as a file; {"path"}: what the "archive" of a later load calls it.
    Result<Reply> receive(const Request& request);
    Result<Reply> load(const Request& request);
    Result<Reply> loadNative(const Request& request);
    Result<Reply> run(const Request& request);
    Result<Reply> verify(const Request& request);
    void generateText(const std::shared_ptr<Request>& request);
    Status startText(const std::shared_ptr<Request>& request);
    Result<Engine*> engineFor(const std::string& name);
    Result<Reply> engine(const Request& request);
    Result<Reply> stats(const Request& request);
    Result<Reply> bench(const Request& request);

    /// The program called by the request's `key`.
    Result<LanguageModel*> model(const Request& request, const char* key);
    Result<Reply> answerTo(const Request& request);
    Result<LanguageModel*> modelNamed(const std::string& name);
    Result<std::shared_ptr<WeightStore>> weights(const Json& weights, c10::Device device);

    struct Loaded {
        LanguageModel model;
        std::shared_ptr<WeightStore> weights;
        std::int64_t kvCacheBytes = 0;  ///< at most; 0: as the machine allows
        EngineOptions engineOptions;    ///< of the engine's next start; its blocks follow from the cache
        std::unique_ptr<Engine> engine; ///< since the first text; gone before the model
        const CachedRunner* runner = nullptr; ///< the engine's
    };
    ReceivedFiles m_received;
    std::map<std::string, Loaded, std::less<>> m_loaded;
    std::map<std::string, std::shared_ptr<native::Decoder>, std::less<>> m_native; ///< hand-written code
    // The store used last stays when its programs are replaced: the next one most often wants the same
    // weights.
    std::string m_weightsKey;
    std::shared_ptr<WeightStore> m_weights;
};

} // namespace workbench
