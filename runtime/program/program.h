#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "runtime/program/bound_node.h"
#include "runtime/program/kv_cache.h"
#include "runtime/program/paged_kv_cache.h"
#include "runtime/program/parameter_source.h"
#include "runtime/program/placement.h"
#include "runtime/program/position_rows.h"
#include "runtime/program/run_frames.h"
#include "runtime/program/sym_table.h"
#include "runtime/program/weight_use.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace workbench {

struct RunOptions {
    KvCache* cache = nullptr; ///< attention then reads and extends it, and the inputs are the new tokens only
    /// The same for several sequences side by side; not together with `cache`.
    PagedRun* paged = nullptr;
    const std::atomic<bool>* cancel = nullptr; ///< looked at before every node
    /// Called with every value that a node makes, right after it; values that were computed at load are not
    /// among them.
    std::function<Status(ValueId, const at::Tensor&)> observe;
    /// Where the seconds of each node are added, by NodeId; it has a place for every node.
    std::vector<double>* nodeSeconds = nullptr;
};

/// A graph compiled once and run often: operators bound, constants ready, what depends on parameters alone
/// computed at load, values freed after their last use or, in runs of sizes that come again, in memory that
/// stays (RunFrames). Inputs and values lie on the placement's device. One thread at a time.
class Program {
public:
    /// Binds `graph`, fetches its parameters from `parameters` and computes what no input changes.
    /// `parameters` gives tensors on the placement's device.
    static Result<Program> create(Graph graph, ParameterSource& parameters, Placement placement = {});

    /// A program of another graph over the same values: `graph` has those of this program's under the same
    /// ids and may have more. What this program holds is shared, not made again.
    Result<Program> withGraph(Graph graph) const;

    /// `inputs` in the order of userInputs(); their shapes give the symbols their values. Errors name the
    /// node.
    Result<std::vector<at::Tensor>> run(std::span<const at::Tensor> inputs, const RunOptions& options = {});

    /// Runs only `nodes` (ascending), with operands from `given`, where the graph's inputs, parameters and
    /// other nodes of the list do not make them; a missing one is an Error. Returns the values of `wanted`,
    /// each made by one of the nodes.
    using Given = std::function<const at::Tensor*(const std::string& name)>;
    Result<std::vector<at::Tensor>> runNodes(std::span<const at::Tensor> inputs,
                                             const std::vector<NodeId>& nodes, const Given& given,
                                             const std::vector<ValueId>& wanted);

    const Graph& graph() const { return m_graph; }
    const Placement& placement() const { return m_placement; }
    const std::vector<std::string>& userInputs() const { return m_userNames; } ///< names
    /// The value of that name, or kNone.
    ValueId find(const std::string& name) const;
    /// A parameter, buffer or constant, or a value that was computed from those at load; nullptr for all
    /// others.
    const at::Tensor* constant(ValueId value) const;
    /// Whether no run has to make or be given the value: a constant, or a weight that is only kept packed.
    bool isHeld(ValueId value) const;

    /// One entry for each attention node; an Error names a node whose keys and values have no fixed size or
    /// that cannot use a cache.
    Result<std::vector<AttentionShape>> attentionShapes() const;

    /// The memory of everything that runs read and none of them makes, packed weights apart.
    std::vector<c10::Storage> storages() const;

    std::int64_t parameterCount() const { return m_parameterCount; } ///< elements
    std::int64_t parameterBytes() const { return m_parameterBytes; }

private:
    Program(Graph graph, Placement placement) : m_graph(std::move(graph)), m_placement(placement) {}

    Status fetchParameters(ParameterSource& parameters);
    Result<bool> fetchPacked(const Input& input, const WeightUses& uses, bool lookups,
                             ParameterSource& parameters);
    void usePacked(ValueId value, ops::PackedWeight weight);
    void givePacked(ValueId value, const std::shared_ptr<const ops::PackedWeight>& weight);
    void countParameter(const void* data, std::int64_t elements, std::int64_t bytes);
    Status bindGraph();
    Status bindNodes();
    Status foldConstants();
    void markLastUses();
    Status prepareRuns();
    Status makeDirectCalls();
    void dropUnused();
    Status bindSymbols(std::span<const at::Tensor> inputs);
    Status setUserInputs();
    Status checkInput(const Input& input, const at::Tensor& tensor) const;
    Status runOne(const BoundNode& node, const RunOptions& options, std::vector<at::Tensor>& values);
    Status callNode(const BoundNode& node, const RunOptions& options, std::vector<at::Tensor>& values);
    template <class Call>
    Status timed(const BoundNode& node, const RunOptions& options, const Call& call);
    Status callOperator(const BoundNode& node, const RunOptions& options, std::vector<at::Tensor>& values);
    void callCached(const BoundNode& node, const RunOptions& options);
    Result<std::vector<at::Tensor>> runAll(std::span<const at::Tensor> inputs, const RunOptions& options);
    Result<std::vector<at::Tensor>> runFreshly(std::span<const at::Tensor> inputs, const RunOptions& options);
    Status runNodeByNode(std::vector<at::Tensor>& values, const RunOptions& options);
    Result<std::vector<at::Tensor>> runInFrame(RunFrame& frame, std::span<const at::Tensor> inputs,
                                               const RunOptions& options);
    Status runSteps(RunFrame& frame, const RunOptions& options);
    Result<bool> fillPositionRows(RunFrame& frame);
    std::vector<at::Tensor> positionRows(const at::Tensor& positions);
    Status runStep(const FramePlan::Step& step, const DirectCall::Function& prepared,
                   const RunOptions& options, RunFrame& frame);
    void setInputs(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& values) const;
    std::vector<at::Tensor> outputsOf(const std::vector<at::Tensor>& values) const;
    Status giveOperands(const BoundNode& node, const Given& given, std::vector<at::Tensor>& values);

    Graph m_graph;
    Placement m_placement;
    std::vector<BoundNode> m_nodes;      ///< in order; folded ones are gone
    std::vector<at::Tensor> m_constants; ///< by ValueId; undefined where a run makes the value
    /// By ValueId: weights that the nodes have.
    std::vector<std::shared_ptr<const ops::PackedWeight>> m_packed;
    std::unordered_set<const void*> m_counted; ///< memory of the parameters in parameterBytes()
    std::vector<Input> m_users;                ///< user inputs, in order
    std::vector<std::string> m_userNames;
    std::vector<std::string> m_knownSymbols; ///< those that a user input's shape gives
    std::unordered_map<std::string, ValueId> m_byName;
    SymTable m_symbols;
    RunFrames m_frames;
    PositionPlan m_positionPlan;
    PositionRows m_positionRows;
    torch::jit::Stack m_stack;
    std::int64_t m_parameterCount = 0;
    std::int64_t m_parameterBytes = 0;
};

} // namespace workbench
