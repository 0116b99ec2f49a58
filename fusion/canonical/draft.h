#pragma once

#include "core/graph/graph.h"
#include "core/graph/op_classes.h"
#include "fusion/match/graph_view.h"

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace workbench {

/// A node on its way into the canonical graph. Operands are already values of that graph.
struct DraftNode {
    Node node; ///< outputs is unused
    std::vector<std::pair<std::string, TensorMeta>> outputs;
    std::vector<ValueId> aliases; ///< per output: the existing value that it turned out to be, or kNone

    bool done() const; ///< every output is an alias: nothing has to be added
    const TensorMeta& meta() const { return outputs.front().second; }
    std::string_view op() const { return baseName(node.op); }
};

/// The canonical graph as far as it is built, and what a rule may do with the node that comes next.
class Draft {
public:
    explicit Draft(const Graph& traced); ///< keeps no copy: `traced` outlives the draft

    /// Copies the inputs; map[traced value] becomes the canonical one.
    void addInputs(const Graph& traced, std::vector<ValueId>& map);
    const Graph& graph() const { return m_graph; }
    Graph take() { return std::move(m_graph); }
    DraftNode& current() { return *m_current; }

    /// Operand `name` of the current node, or kNone.
    ValueId input(std::string_view name) const { return operand(m_current->node, name); }
    const TensorMeta& meta(ValueId value) const { return m_graph.value(value).meta; }
    /// The node that makes a value when its op has that base name.
    const Node* madeBy(ValueId value, std::string_view op) const;

    /// The current node is another op on the same outputs. Returns true, for rules to return.
    bool become(std::string op, std::vector<Argument> arguments);
    /// The current node's only output is an existing value.
    bool alias(ValueId value);
    /// A node before the current one, itself put into canonical form; returns its value.
    ValueId insert(std::string op, std::vector<Argument> arguments, std::string name, TensorMeta meta);
    std::string uniqueName(std::string base);

    /// Adds a node (after all rules); equal nodes of one module are one.
    std::vector<ValueId> add(DraftNode draft);
    /// Applies the rules to a node and adds it.
    std::vector<ValueId> process(DraftNode draft);

private:
    Graph m_graph;
    DraftNode* m_current = nullptr;
    std::unordered_set<std::string_view> m_names; ///< of the traced graph, and m_ownNames
    std::deque<std::string> m_ownNames;
    std::unordered_multimap<std::size_t, NodeId> m_known; ///< pure nodes by their hash
};

/// One unification of spellings. Returns true when it changed the node; rules are tried again until none
/// does.
struct CanonicalRule {
    std::string_view name;
    bool (*apply)(Draft& draft);
};

/// All rules in the order in which they are tried.
const std::vector<CanonicalRule>& canonicalRules();

// One file each.
bool unifyCasts(Draft& draft);
bool dropCopies(Draft& draft);
bool unifyViews(Draft& draft);
bool unifyTransposes(Draft& draft);
bool unifyPieces(Draft& draft);
bool unifySlices(Draft& draft);
bool unifyConcatenations(Draft& draft);
bool unifyArithmetic(Draft& draft);
bool unifySquares(Draft& draft);
bool unifyRoots(Draft& draft);
bool unifyLinears(Draft& draft);

} // namespace workbench
