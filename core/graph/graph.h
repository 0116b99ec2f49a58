#pragma once

#include "core/graph/scalar_type.h"
#include "core/graph/sym_int.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The functional tensor graph that everything works on: inputs, nodes in topological order, outputs. No op
/// mutates. Symbolic scalars are never values: sizes such as `sym_size * 2` are SymInt expressions inside
/// arguments and shapes.

namespace workbench {

using ValueId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

struct TensorMeta {
    ScalarType dtype = ScalarType::f32;
    SymShape shape;
    bool operator==(const TensorMeta&) const = default;
};

/// A tensor value. Its name is unique in its graph; a rewrite keeps the names of the values that it replaces.
struct Value {
    std::string name;
    TensorMeta meta;
    NodeId producer = kNone; ///< kNone for graph inputs
};

struct None {
    bool operator==(const None&) const = default;
};
/// A use of a tensor value as an argument.
struct ValueRef {
    ValueId id = kNone;
    bool operator==(const ValueRef&) const = default;
};
/// torch's layout, device and memory-format enums: kept by name ("strided", "cpu", "contiguous_format").
struct Keyword {
    enum class Kind { layout, device, memoryFormat } kind;
    std::string name;
    bool operator==(const Keyword&) const = default;
};

/// An argument's value. Integers are SymInts (usually constant). In a value list, kNone stands for an absent
/// tensor.
using ArgumentValue =
    std::variant<None, bool, SymInt, double, std::string, ScalarType, Keyword, ValueRef,
                 std::vector<ValueRef>, std::vector<SymInt>, std::vector<double>, std::vector<bool>>;

/// Every argument carries the name that the op's schema gives it ("self", "other", "dim"), positional or not.
struct Argument {
    std::string name;
    ArgumentValue value;
    bool operator==(const Argument&) const = default;
};

/// A module on the path from the model to a node: {"model.layers.0.mlp", "LlamaMLP"}. The root has path "".
struct ModuleInfo {
    std::string path;
    std::string className;
    bool operator==(const ModuleInfo&) const = default;
};

/// One frame of the Python stack that made a node.
struct SourceFrame {
    std::string file;
    std::int32_t line = 0; ///< 1-based
    std::string function;
    std::string text; ///< the source line, trimmed; may be empty
    bool operator==(const SourceFrame&) const = default;
};
/// Outermost frame first; the last one is the model's own line.
using SourceStack = std::vector<SourceFrame>;

struct Node {
    std::string op; ///< "aten.add.Tensor", "workbench.attention"
    std::vector<Argument> arguments;
    std::vector<ValueId> outputs;
    std::int32_t module = kNone; ///< index into Graph::modules, the innermost one
    std::int32_t source = kNone; ///< index into Graph::sources
    std::vector<NodeId>
        origins; ///< nodes of the graph that this graph was derived from; empty in a traced graph
};

/// How a parameter's data comes about when it is not stored as is: source parameters concatenated along
/// `dim`.
struct DerivedParameter {
    std::vector<std::string> sources;
    std::int64_t dim = 0;
    bool operator==(const DerivedParameter&) const = default;
};

struct Input {
    enum class Kind { user, parameter, buffer, constant };
    Kind kind = Kind::user;
    ValueId value = kNone;
    std::string target; ///< name of the parameter, buffer or constant ("model.norm.weight"); the input's name
                        ///< for user inputs
    std::optional<DerivedParameter> derived;
};

/// A place where a value is used: argument `argument` of node `node`, or a graph output (node == kNone).
struct Use {
    NodeId node = kNone;
    std::int32_t argument = 0;
};

class Graph {
public:
    std::vector<Input> inputs;
    std::vector<Node> nodes; ///< in topological order
    std::vector<Value> values;
    std::vector<ValueId> outputs;
    std::vector<ModuleInfo> modules;  ///< unique by path; every ancestor of a used module is present
    std::vector<SourceStack> sources; ///< unique

    ValueId addValue(std::string name, TensorMeta meta, NodeId producer = kNone);
    ValueId addInput(Input::Kind kind, std::string name, TensorMeta meta, std::string target);
    /// Appends a node with one value per name/meta pair; returns the node's id.
    NodeId addNode(std::string op, std::vector<Argument> arguments,
                   std::vector<std::pair<std::string, TensorMeta>> outputs, std::int32_t module = kNone,
                   std::int32_t source = kNone, std::vector<NodeId> origins = {});
    std::int32_t addModule(ModuleInfo module); ///< returns the existing index when the path is known
    std::int32_t addSource(SourceStack stack);

    const Node& node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
    const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
    const Input* inputOf(ValueId id)
        const; ///< nullptr when the value is made by a node. Linear in the inputs: index it in loops
    std::string_view modulePath(NodeId id) const;    ///< "" when unknown
    const SourceFrame* sourceFrame(NodeId id) const; ///< the model's own line; nullptr when unknown
};

/// The argument of that name, or nullptr.
const ArgumentValue* argument(const Node& node, std::string_view name);
/// The tensor operand of that name, or kNone.
ValueId operand(const Node& node, std::string_view name);
/// Tensor operands in argument order. Holds them itself as long as they are few, as nearly always: matching
/// asks for the operands of a node many times.
class Operands {
public:
    void add(ValueId value);
    const ValueId* begin() const { return m_many.empty() ? m_few.data() : m_many.data(); }
    const ValueId* end() const { return begin() + m_size; }
    std::size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    ValueId front() const { return *begin(); }
    ValueId operator[](std::size_t i) const { return begin()[i]; }

private:
    std::array<ValueId, 6> m_few;
    std::vector<ValueId> m_many; ///< all of them, once there are more
    std::size_t m_size = 0;
};

/// All tensor operands in argument order, those in lists included, absent ones left out.
Operands operands(const Node& node);

/// Who uses each value: `users(v)` in node order, graph outputs last. Valid as long as the graph is not
/// changed.
class Users {
public:
    explicit Users(const Graph& graph);
    std::span<const Use> of(ValueId value) const {
        const auto at = static_cast<std::size_t>(value);
        return std::span(m_uses).subspan(m_begins[at], m_begins[at + 1] - m_begins[at]);
    }

private:
    std::vector<Use> m_uses;           ///< of value after value
    std::vector<std::size_t> m_begins; ///< by value: where its uses begin; one more at the end
};

} // namespace workbench
