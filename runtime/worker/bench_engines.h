#pragma once

#include "runtime/benchmark/agreement.h"
#include "runtime/benchmark/round.h"
#include "runtime/native/native_runner.h"
#include "runtime/program/cached_runner.h"
#include "runtime/worker/json_edge.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// Engines for one measurement, one a program: equal limits, equal caches, no reuse of prefixes, since every
/// round brings the same prompts.
class BenchEngines {
public:
    /// `loads`: what the caches must have room for. `programs`: how many will be added.
    BenchEngines(const std::vector<benchmark::Load>& loads, std::size_t programs);

    Status add(const std::string& name, LanguageModel& model);
    /// Hand-written code; first compared with the program that was added before, which is the model as it is.
    /// Where it cannot run, or its logits are further from that one's than rounding explains, it takes no
    /// part and native() says why.
    void add(const std::string& name, std::shared_ptr<native::Decoder> decoder);

    std::vector<benchmark::Contender> contenders() const;
    /// {"relative_error", "tokens", "equal"} of the comparison, or the "reason" why it takes no part; null
    /// without hand-written code.
    const Json& native() const { return m_native; }
    std::int64_t cacheBytes() const { return m_cacheBytes; }
    /// What is to be known of how programs run, by name (CachedRunner::note); only while nothing runs.
    Json notes() const;
    /// Runs the load once more on each program with clocks at kernels and nodes: by program
    /// {"steps", "step_s", "model_s", "kernels": {name: seconds}, "families": {name: seconds}, "nodes": {name
    /// of a value: seconds}}. A GPU works through a step by itself, where clocks of the host see nothing: of
    /// what runs its way (Placement::direct), only the first three.
    Result<Json> profile(const benchmark::Load& load, const std::atomic<bool>& cancel);

private:
    struct Entry {
        std::string name;
        std::unique_ptr<Engine> engine;
        CachedRunner* program = nullptr; ///< of the engine; null for hand-written code
        bool hasClocks = true;           ///< see profile()
    };
    Status addNative(const std::string& name, const std::shared_ptr<native::Decoder>& decoder);
    PagedKvOptions cacheFor(const std::vector<AttentionShape>& shapes, c10::Device device);
    Status start(Entry entry, std::unique_ptr<ModelRunner> runner, const BlockLayout& layout);

    const std::vector<benchmark::Load>& m_loads;
    std::vector<Entry> m_entries;
    LanguageModel* m_original = nullptr;
    Json m_native;
    std::size_t m_programs;
    std::optional<std::int64_t> m_largestCache; ///< bytes
    std::int64_t m_cacheBytes = 0;
};

} // namespace workbench
