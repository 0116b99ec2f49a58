#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace workbench {

/// By NodeId: the nodes that a program runs. Not those whose values nobody reads, such as the scalar
/// arithmetic that asserts leave behind, nor asserts on metadata, which state at run time what the graph
/// states already.
std::vector<bool> neededNodes(const Graph& graph);

/// What a node does with a parameter that can be packed.
enum class WeightUse { product, lookup, experts, other };
/// How `node` uses the value `id`, one of its operands: as the weight of aten.linear, as that of
/// aten.embedding, as matrices [experts, rows, columns] that are used whole (workbench.moe_experts) or picked
/// (aten.index with one list of indices), or otherwise.
WeightUse weightUse(const Graph& graph, const Node& node, ValueId id);

/// What programs keep an input of a graph as.
enum class WeightForm {
    plain,  ///< a tensor
    packed, ///< panels for products, which lookups read, too
    tied,   ///< panels where another parameter of the same tensor has them, else a tensor: only looked up
};

/// Who reads the inputs of a graph, and what follows from that for every program and every count of bytes.
class WeightUses {
public:
    explicit WeightUses(const Graph& graph);

    WeightForm formOf(const Input& input) const;
    /// Whether a product reads it, in whatever form: a matrix, or several of one size, as it is, in another
    /// arrangement or in parts.
    bool isProductWeight(const Input& input) const;
    /// Whether its numbers stay as they are stored where others become fewer bits: a matrix that chooses
    /// experts, where a small error is another expert, and a float32 one among bfloat16 ones, which somebody
    /// kept so.
    bool keepsPrecision(const Input& input) const;

private:
    struct Uses {
        bool product = false;
        bool lookup = false;
        bool experts = false;
        bool other = false;
    };
    void findUses(const std::vector<bool>& needed);
    void findProducts(const std::vector<bool>& needed);
    void findRouters(const std::vector<bool>& needed);

    const Graph& m_graph;
    std::vector<Uses> m_uses; ///< by ValueId, as is all that follows
    std::vector<bool> m_multiplied;
    std::vector<bool> m_routes; ///< scores that choose experts, and the matrices that make them
    bool m_hasBfloat16 = false; ///< among the parameters
};

} // namespace workbench
