#include "fusion/rewrite/application.h"

#include <queue>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace workbench {
namespace {

constexpr std::size_t kNoSite = static_cast<std::size_t>(-1);

/// A node of the new graph: a canonical one, or one of a replacement.
struct Item {
    NodeId node = kNone; ///< canonical node, or the first node that the site removes
    std::size_t site = kNoSite;
    std::size_t index = 0; ///< of the replacement's node
};

class Assembler {
public:
    Assembler(const GraphView& canonical, const std::vector<Applied>& applied)
        : m_canonical(canonical), m_applied(applied) {
        collectItems();
        dropDeadItems();
    }

    Assembly run() {
        addInputs();
        emitItems();
        if (m_emitted < m_live)
            findCycle();
        else
            for (const ValueId output : m_canonical.graph().outputs)
                m_result.graph.outputs.push_back(mapped(output));
        return std::move(m_result);
    }

private:
    const Replacement::MadeNode& made(const Item& item) const {
        return m_applied[item.site].replacement.nodes()[item.index];
    }
    const std::vector<Argument>& arguments(const Item& item) const {
        return item.site == kNoSite ? m_canonical.node(item.node).arguments : made(item).arguments;
    }
    const std::vector<ValueId>& outputs(const Item& item) const {
        return item.site == kNoSite ? m_canonical.node(item.node).outputs : made(item).outputs;
    }
    template <typename Visit>
    void eachOperand(const Item& item, Visit visit) const {
        for (const Argument& argument : arguments(item)) {
            if (const auto* single = std::get_if<ValueRef>(&argument.value)) {
                if (single->id != kNone)
                    visit(single->id);
            } else if (const auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
                for (const ValueRef& reference : *list)
                    if (reference.id != kNone)
                        visit(reference.id);
            }
        }
    }

    ValueId& mapped(ValueId value) { return m_map[static_cast<std::size_t>(value)]; }
    std::size_t& makerOf(ValueId value) { return m_makers[static_cast<std::size_t>(value)]; }

    void collectItems() {
        const Graph& graph = m_canonical.graph();
        std::vector<bool> removed(graph.nodes.size());
        std::size_t values = graph.values.size();
        for (std::size_t site = 0; site < m_applied.size(); ++site) {
            const Applied& applied = m_applied[site];
            const std::vector<NodeId>& nodes = applied.match->nodes;
            for (const NodeId node : nodes)
                removed[static_cast<std::size_t>(node)] = true;
            for (std::size_t i = 0; i < applied.replacement.nodes().size(); ++i)
                m_items.push_back({nodes.front(), site, i});
            values = std::max(values, static_cast<std::size_t>(applied.replacement.firstId()) +
                                          applied.replacement.values().size());
        }
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            if (!removed[i])
                m_items.push_back({static_cast<NodeId>(i), kNoSite, 0});
        m_map.assign(values, kNone);
        m_makers.assign(values, kNoSite);
        for (std::size_t i = 0; i < m_items.size(); ++i)
            for (const ValueId value : outputs(m_items[i]))
                makerOf(value) = i;
    }

    void dropDeadItems() {
        m_dead.assign(m_items.size(), true);
        m_read.assign(m_map.size(), false);
        std::vector<std::size_t> work;
        const auto keep = [&](std::size_t item) {
            if (item != kNoSite && m_dead[item]) {
                m_dead[item] = false;
                ++m_live;
                work.push_back(item);
            }
        };
        const auto read = [&](ValueId value) {
            m_read[static_cast<std::size_t>(value)] = true;
            keep(makerOf(value));
        };
        for (const ValueId output : m_canonical.graph().outputs)
            read(output);
        for (std::size_t i = 0; i < m_items.size(); ++i)
            if (outputs(m_items[i]).empty())
                keep(i);
        while (!work.empty()) {
            const std::size_t item = work.back();
            work.pop_back();
            eachOperand(m_items[item], read);
        }
    }

    std::string uniqueName(std::string name) {
        std::string candidate = name;
        for (int i = 1; !m_names.insert(candidate).second; ++i)
            candidate = name + "_" + std::to_string(i);
        return candidate;
    }

    void addInputs() {
        const Graph& graph = m_canonical.graph();
        m_result.graph.modules = graph.modules;
        m_result.graph.sources = graph.sources;
        std::unordered_set<std::string> targets;
        std::unordered_map<std::string, std::vector<std::pair<ValueId, const Replacement::MadeInput*>>>
            derived;
        for (const Value& value : graph.values)
            m_names.insert(value.name);
        for (const Input& input : graph.inputs)
            targets.insert(input.target);
        for (const Applied& applied : m_applied)
            for (const auto& [value, input] : applied.replacement.inputs())
                derived[input.derived.sources.front()].emplace_back(value, &input);
        for (const Input& input : graph.inputs) {
            for (const auto& [value, merged] : derived[input.target])
                addDerived(value, *merged, targets);
            if (input.kind != Input::Kind::user && !m_read[static_cast<std::size_t>(input.value)])
                continue;
            const Value& value = graph.value(input.value);
            mapped(input.value) = m_result.graph.addInput(input.kind, value.name, value.meta, input.target);
            m_result.graph.inputs.back().derived = input.derived;
        }
    }

    void addDerived(ValueId value, const Replacement::MadeInput& merged,
                    std::unordered_set<std::string>& targets) {
        std::string target = merged.target;
        for (int i = 1; !targets.insert(target).second; ++i)
            target = merged.target + "_" + std::to_string(i);
        mapped(value) = m_result.graph.addInput(Input::Kind::parameter, uniqueName(merged.value.name),
                                                merged.value.meta, target);
        m_result.graph.inputs.back().derived = merged.derived;
    }

    /// Kahn's algorithm; of the items whose operands are there, the one that stood first in the canonical
    /// graph goes first.
    void emitItems() {
        using Key = std::tuple<NodeId, std::size_t, std::size_t>; // node, index, item
        std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
        m_users.assign(m_items.size(), {});
        m_waiting.assign(m_items.size(), 0);
        for (std::size_t i = 0; i < m_items.size(); ++i) {
            if (m_dead[i])
                continue;
            eachOperand(m_items[i], [&](ValueId value) {
                if (const std::size_t maker = makerOf(value); maker != kNoSite) {
                    m_users[maker].push_back(i);
                    ++m_waiting[i];
                }
            });
            if (m_waiting[i] == 0)
                ready.emplace(m_items[i].node, m_items[i].index, i);
        }
        m_result.replacements.assign(m_applied.size(), {});
        m_result.graph.nodes.reserve(m_live);
        m_result.graph.values.reserve(m_map.size());
        while (!ready.empty()) {
            const std::size_t item = std::get<2>(ready.top());
            ready.pop();
            emit(m_items[item]);
            ++m_emitted;
            for (const std::size_t user : m_users[item])
                if (--m_waiting[user] == 0)
                    ready.emplace(m_items[user].node, m_items[user].index, user);
        }
    }

    void emit(const Item& item) {
        Graph& graph = m_result.graph;
        const auto id = static_cast<NodeId>(graph.nodes.size());
        Node node;
        node.arguments = arguments(item);
        for (Argument& argument : node.arguments) {
            if (auto* single = std::get_if<ValueRef>(&argument.value)) {
                if (single->id != kNone)
                    single->id = mapped(single->id);
            } else if (auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
                for (ValueRef& reference : *list)
                    if (reference.id != kNone)
                        reference.id = mapped(reference.id);
            }
        }
        if (item.site == kNoSite) {
            const Node& old = m_canonical.node(item.node);
            node.op = old.op;
            node.module = old.module;
            node.source = old.source;
            node.origins = {item.node};
        } else {
            node.op = made(item).op;
            node.module = made(item).module;
            node.source = made(item).source;
            node.origins = m_applied[item.site].match->nodes;
            m_result.replacements[item.site].push_back(id);
        }
        for (const ValueId output : outputs(item))
            node.outputs.push_back(addValue(item, output, id));
        graph.nodes.push_back(std::move(node));
    }

    ValueId addValue(const Item& item, ValueId value, NodeId producer) {
        const auto canonicalCount = static_cast<ValueId>(m_canonical.graph().values.size());
        if (value < canonicalCount) {
            const Value& old = m_canonical.graph().value(value);
            return mapped(value) = m_result.graph.addValue(old.name, old.meta, producer);
        }
        const Replacement& replacement = m_applied[item.site].replacement;
        const Replacement::Made& fresh =
            replacement.values()[static_cast<std::size_t>(value - replacement.firstId())];
        return mapped(value) = m_result.graph.addValue(uniqueName(fresh.name), fresh.meta, producer);
    }

    /// What is left waits for itself. Items that only come after a cycle are peeled off from the end.
    void findCycle() {
        std::vector<std::size_t> readers(m_items.size());
        std::vector<std::vector<std::size_t>> reads(m_items.size());
        std::vector<std::size_t> ends;
        for (std::size_t i = 0; i < m_items.size(); ++i) {
            if (m_waiting[i] == 0)
                continue;
            for (const std::size_t user : m_users[i]) {
                ++readers[i];
                reads[user].push_back(i);
            }
            if (readers[i] == 0)
                ends.push_back(i);
        }
        std::vector<bool> peeled(m_items.size());
        while (!ends.empty()) {
            const std::size_t item = ends.back();
            ends.pop_back();
            peeled[item] = true;
            for (const std::size_t read : reads[item])
                if (--readers[read] == 0)
                    ends.push_back(read);
        }
        for (std::size_t i = 0; i < m_items.size(); ++i)
            if (m_waiting[i] != 0 && !peeled[i] && m_items[i].site != kNoSite)
                m_result.cycle.push_back(m_items[i].site);
        std::sort(m_result.cycle.begin(), m_result.cycle.end());
        m_result.cycle.erase(std::unique(m_result.cycle.begin(), m_result.cycle.end()), m_result.cycle.end());
    }

    const GraphView& m_canonical;
    const std::vector<Applied>& m_applied;
    std::vector<Item> m_items;
    std::vector<bool> m_dead, m_read;
    std::vector<std::size_t> m_makers; ///< by value: the item that makes it
    std::vector<std::vector<std::size_t>> m_users;
    std::vector<std::size_t> m_waiting; ///< operands that are not there yet
    std::vector<ValueId> m_map;         ///< value -> value of the new graph
    std::unordered_set<std::string> m_names;
    std::size_t m_live = 0, m_emitted = 0;
    Assembly m_result;
};

} // namespace

Assembly assemble(const GraphView& canonical, const std::vector<Applied>& applied) {
    return Assembler(canonical, applied).run();
}

} // namespace workbench
