#include "app/diagram/search.h"

#include "app/diagram/type_text.h"

#include <algorithm>

namespace workbench {
namespace {

constexpr const char* kBetween = " · ";
constexpr char kFieldEnd = '\n'; // no word of a query has one, so that none matches across two fields

std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small;
}

std::vector<std::string> wordsOf(std::string_view query) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : lower(query) + " ") {
        if (c != ' ' && c != '\t' && c != '\n') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::move(word));
            word.clear();
        }
    }
    return words;
}

/// Shapes are written with and without blanks: "[1, T, 576]" is looked for as "[1,T,576]".
std::string withoutBlanks(std::string text) {
    std::erase(text, ' ');
    return text;
}

std::string join(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts)
        if (!text.empty())
            joined += (joined.empty() ? "" : kBetween) + text;
    return joined;
}

/// 0: the whole name, 1: its start, 2: the start of a part of it, 3: anywhere in it, 4: elsewhere.
int rankOf(const std::string& name, const std::string& word) {
    if (name == word)
        return 0;
    const std::size_t at = name.find(word);
    if (at == std::string::npos)
        return 4;
    if (at == 0)
        return 1;
    return name[at - 1] == '.' || name[at - 1] == '_' ? 2 : 3;
}

} // namespace

SearchIndex::SearchIndex(const Graph& graph, const Analysis* analysis) {
    const SymbolNames names(graph);
    addNodes(graph, names, analysis);
    addModules(graph);
    addInputs(graph, names);
    if (analysis)
        addSites(*analysis);
}

void SearchIndex::add(SearchHit hit, std::initializer_list<std::string_view> more) {
    Entry entry{std::move(hit), {}, {}};
    entry.name = lower(entry.hit.text);
    entry.all = entry.name + kFieldEnd + lower(entry.hit.context) + kFieldEnd;
    for (const std::string_view text : more)
        entry.all += lower(text) + kFieldEnd;
    m_entries.push_back(std::move(entry));
}

void SearchIndex::addNodes(const Graph& graph, const SymbolNames& names, const Analysis* analysis) {
    std::vector<std::string> patternsOfNode(graph.nodes.size());
    if (analysis)
        for (const Site& site : analysis->sites)
            for (const NodeId node : site.nodes)
                patternsOfNode[static_cast<std::size_t>(node)] += site.pattern + " ";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const bool hasOutput = !node.outputs.empty();
        const std::string name = hasOutput ? graph.value(node.outputs.front()).name : node.op;
        const std::string type =
            hasOutput ? names.text(graph.value(node.outputs.front()).meta) : std::string();
        const std::string module(graph.modulePath(static_cast<NodeId>(i)));
        add({SearchHit::Kind::node,
             name,
             join({std::string(shortOp(node.op)), type, module}),
             module,
             static_cast<NodeId>(i),
             {}},
            {node.op, withoutBlanks(type), patternsOfNode[i]});
    }
}

void SearchIndex::addModules(const Graph& graph) {
    std::vector<NodeId> firstNode(graph.modules.size(), kNone);
    for (std::size_t i = graph.nodes.size(); i-- > 0;)
        if (const std::int32_t module = graph.nodes[i].module; module != kNone)
            firstNode[static_cast<std::size_t>(module)] = static_cast<NodeId>(i);
    for (std::size_t i = 0; i < graph.modules.size(); ++i) {
        const ModuleInfo& module = graph.modules[i];
        if (!module.path.empty() && (!module.className.empty() || firstNode[i] != kNone))
            add({SearchHit::Kind::module, module.path, module.className, module.path, firstNode[i], {}}, {});
    }
}

void SearchIndex::addInputs(const Graph& graph, const SymbolNames& names) {
    const Users users(graph);
    for (const Input& input : graph.inputs) {
        const std::span<const Use> uses = users.of(input.value);
        const NodeId user = uses.empty() ? kNone : uses.front().node;
        const std::string type = names.text(graph.value(input.value).meta);
        const std::string name = input.target.empty() ? graph.value(input.value).name : input.target;
        const std::string module = user == kNone ? std::string() : std::string(graph.modulePath(user));
        add({SearchHit::Kind::input, name, type, module, user, {}}, {withoutBlanks(type)});
    }
}

void SearchIndex::addSites(const Analysis& analysis) {
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        const Site& site = analysis.sites[i];
        NodeId node = site.nodes.empty() ? kNone : site.nodes.front();
        if (node == kNone)
            node = site.miss ? site.miss->node : site.roles.empty() ? kNone : site.roles.front().node;
        add({SearchHit::Kind::site, site.id, site.pattern, site.module, node, i}, {});
    }
}

std::vector<SearchHit> SearchIndex::find(std::string_view query, std::size_t limit) const {
    const std::vector<std::string> words = wordsOf(query);
    if (words.empty())
        return {};
    // Those of one rank stay in the order of the graph.
    std::vector<std::pair<int, std::size_t>> found;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        int rank = 0;
        const bool all = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            rank += rankOf(m_entries[i].name, word);
            return m_entries[i].all.find(word) != std::string::npos;
        });
        if (all)
            found.emplace_back(rank, i);
    }
    const std::size_t count = std::min(limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
    std::vector<SearchHit> hits;
    for (std::size_t i = 0; i < count; ++i)
        hits.push_back(m_entries[found[i].second].hit);
    return hits;
}

} // namespace workbench
