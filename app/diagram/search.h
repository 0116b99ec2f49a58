#pragma once

#include "core/graph/graph.h"
#include "fusion/site.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

class SymbolNames;

struct SearchHit {
    enum class Kind { module, node, input, site } kind = Kind::node;
    std::string text;    ///< what to show: "linear_3"
    std::string context; ///< "model.layers.0.mlp.gate_proj · linear · bf16[1, T, 1536]"
    std::string module;
    NodeId node = kNone; ///< node; of an input: its first user; of a site: its first node
    std::optional<std::size_t> site;
};

/// Looks up names of modules, nodes, parameters and inputs, ops, dtypes, shapes and patterns. All words of a
/// query must occur, in any order and case; best first: whole name, start of a name, anywhere.
class SearchIndex {
public:
    SearchIndex(const Graph& graph, const Analysis* analysis);
    std::vector<SearchHit> find(std::string_view query, std::size_t limit) const;

private:
    struct Entry {
        SearchHit hit;
        std::string name; ///< lower case
        std::string all;  ///< lower case: everything that may be looked for
    };
    void add(SearchHit hit, std::initializer_list<std::string_view> more);
    void addNodes(const Graph& graph, const SymbolNames& names, const Analysis* analysis);
    void addModules(const Graph& graph);
    void addInputs(const Graph& graph, const SymbolNames& names);
    void addSites(const Analysis& analysis);

    std::vector<Entry> m_entries;
};

} // namespace workbench
