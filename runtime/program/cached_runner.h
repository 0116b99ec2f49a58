#pragma once

#include "runtime/engine/model_runner.h"
#include "runtime/program/language_model.h"
#include "runtime/program/paged_kv_cache.h"

#include <memory>
#include <string>
#include <vector>

namespace workbench {

/// A language model over a paged KV cache of its own.
class CachedRunner : public ModelRunner {
public:
    /// Of the allocator that hands out the runner's blocks.
    virtual BlockLayout layout() const = 0;
    virtual const Graph& graph() const = 0;
    /// Adds the seconds of each node of the graph, by NodeId, from the next step on; null: no more. A runner
    /// whose nodes only queue their work adds none.
    virtual void timeNodes(std::vector<double>* seconds) = 0;
    /// What a user should know of how it runs; empty: nothing.
    virtual std::string note() const { return {}; }
};

/// What a runner is made of.
struct CachedModel {
    LanguageModel model; ///< as engines run it
    PagedKvCache cache;
};
/// Shares the weights of `model`. An Error for a model that cannot decode with a KV cache, and for a cache
/// without room.
Result<CachedModel> cachedModel(LanguageModel& model, const PagedKvOptions& options);

/// The runner for where `model` is placed, with a cache on its device. Errors as cachedModel().
Result<std::unique_ptr<CachedRunner>> makeRunner(LanguageModel& model, const PagedKvOptions& options);

} // namespace workbench
