#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "runtime/ops/packed_weight.h"
#include "runtime/program/sym_table.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace workbench {

struct RunOptions;

/// A node's work without the dispatcher.
struct DirectCall {
    /// Makes the node's values from those in `values`, indexed by ValueId. Throws as LibTorch does.
    using Function = std::function<void(std::vector<at::Tensor>& values, const SymTable& symbols,
                                        const RunOptions& options)>;
    /// What the outputs lie in.
    enum class Memory {
        fresh,  ///< new tensors
        given,  ///< the tensors that `values` has for the outputs, all or none of them; without: new ones
        shared, ///< that of the first argument, or new tensors where it cannot be seen that way
    };
    /// The call for tensors that stay, looked at once: those that `values` has for the inputs and outputs.
    /// Empty where it has to look at them each time.
    using Prepare = std::function<Function(std::vector<at::Tensor>& values)>;

    Function call;
    Memory memory = Memory::fresh;
    Prepare prepare;         ///< may be missing
    ValueId varying = kNone; ///< an input that a prepared call looks up in `values`

    explicit operator bool() const { return static_cast<bool>(call); }
};

/// A node of a graph, bound to an operator of c10's dispatcher. Arguments that no run changes are IValues
/// already; the others are written over them for each call.
struct BoundNode {
    /// An argument that differs from run to run.
    struct Slot {
        enum class Kind {
            tensor,             ///< one value
            tensorList,         ///< Tensor[]
            optionalTensorList, ///< Tensor?[], kNone for an absent one
            integer,            ///< a symbolic integer
            integerList,        ///< a list with symbolic integers
            integerTensor,      ///< a symbolic integer where the schema wants a tensor
        };
        Kind kind = Kind::tensor;
        std::size_t argument = 0;           ///< position in the schema
        std::vector<ValueId> values;        ///< tensor kinds
        std::vector<bool> last;             ///< parallel to values: the run may give its reference away
        std::vector<std::int32_t> integers; ///< integer kinds: indices into the program's SymTable
    };

    NodeId node = kNone;
    c10::OperatorHandle op;
    std::vector<c10::IValue> arguments; ///< one for each of the schema's; slots hold a None
    std::vector<Slot> slots;
    std::vector<ValueId> outputs;
    std::vector<ValueId> unused;    ///< outputs that nobody reads
    std::int32_t attention = kNone; ///< for workbench.attention: which layer of a KvCache it uses
    /// For aten.linear, aten.embedding and aten.index of a packed weight: that weight, which then is no slot;
    /// for workbench.moe_experts: gate_up. Shared with other programs.
    std::shared_ptr<const ops::PackedWeight> packed;
    std::shared_ptr<const ops::PackedWeight> packedDown; ///< the second weight of workbench.moe_experts
    DirectCall direct;    ///< instead of the operator, where there is a shorter way to the same values
    bool foldable = true; ///< the operator is a function of its arguments (no random numbers)

    /// Values that this node reads, duplicates included.
    std::vector<ValueId> inputs() const;
    /// Takes the weight, which is the argument `value`, out of the slots.
    void usePacked(ValueId value, std::shared_ptr<const ops::PackedWeight> weight);
    /// Forgets last uses: a run then leaves every value in place.
    void keepAll();
    /// Drops values that this node was the last to read.
    void dropLast(std::vector<at::Tensor>& values) const;
};

/// Binds a node. An unknown operator, a missing or unknown argument or one of a wrong type is an Error that
/// names the node. Symbolic integers are added to `symbols`.
Result<BoundNode> bindNode(const Graph& graph, NodeId node, SymTable& symbols,
                           c10::Device device = c10::kCPU);

/// "aten.add.Tensor (%y in model.layers.0.mlp, modeling_llama.py:52)": how messages name a node.
std::string describeNode(const Graph& graph, NodeId node);

/// Pushes the arguments on `stack`. `values` is indexed by ValueId; values at their last use are moved out of
/// it.
void pushArguments(const BoundNode& node, const SymTable& symbols, std::vector<at::Tensor>& values,
                   torch::jit::Stack& stack);
/// Calls the node's operator with its packed weights: like callBoxed, from and to `stack`.
void callPacked(const BoundNode& node, torch::jit::Stack& stack);
/// Moves the results from `stack` into `values`; lists are spread. An Error if their number is not that of
/// the node's outputs.
Status popResults(const BoundNode& node, torch::jit::Stack& stack, std::vector<at::Tensor>& values);

} // namespace workbench
