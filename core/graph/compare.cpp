#include "core/graph/compare.h"

#include "core/graph/text.h"

#include <map>
#include <tuple>

namespace workbench {
namespace {

class Comparison {
public:
    Comparison(const Graph& a, const Graph& b, const CompareOptions& options)
        : m_a(a), m_b(b), m_options(options), m_matching(a.values.size(), kNone) {}

    std::optional<std::string> run() {
        if (!compareInputs())
            return m_difference;
        for (std::size_t i = 0; i < m_a.nodes.size() && i < m_b.nodes.size(); ++i)
            if (!compareNodes(static_cast<NodeId>(i)))
                return m_difference;
        if (m_a.nodes.size() != m_b.nodes.size())
            return "the number of nodes: " + std::to_string(m_a.nodes.size()) + " and " +
                   std::to_string(m_b.nodes.size());
        if (m_a.outputs.size() != m_b.outputs.size())
            return std::string("the number of outputs");
        for (std::size_t i = 0; i < m_a.outputs.size(); ++i)
            if (!match(m_a.outputs[i], m_b.outputs[i]))
                return "output " + std::to_string(i);
        return std::nullopt;
    }

private:
    bool differ(std::string what) {
        m_difference = std::move(what);
        return false;
    }

    bool match(ValueId a, ValueId b) const {
        return a == kNone || b == kNone ? a == b : m_matching[static_cast<std::size_t>(a)] == b;
    }

    bool compareInputs() {
        std::map<std::pair<Input::Kind, std::string>, const Input*> byTarget;
        for (const Input& input : m_b.inputs)
            byTarget[{input.kind, input.target}] = &input;
        for (const Input& input : m_a.inputs) {
            const auto found = byTarget.find({input.kind, input.target});
            if (found == byTarget.end())
                return differ("input '" + input.target + "' is only in the first graph");
            const TensorMeta& metaA = m_a.value(input.value).meta;
            const TensorMeta& metaB = m_b.value(found->second->value).meta;
            if (metaA != metaB || input.derived != found->second->derived)
                return differ("input '" + input.target + "': " + print(metaA) + " and " + print(metaB));
            m_matching[static_cast<std::size_t>(input.value)] = found->second->value;
            byTarget.erase(found);
        }
        return byTarget.empty() ||
               differ("input '" + byTarget.begin()->second->target + "' is only in the second graph");
    }

    bool compareNodes(NodeId id) {
        const Node& a = m_a.node(id);
        const Node& b = m_b.node(id);
        const std::string where = "node " + std::to_string(id) + " (" + a.op +
                                  (a.outputs.empty() ? "" : " '" + m_a.value(a.outputs[0]).name + "'") +
                                  "): ";
        if (a.op != b.op)
            return differ(where + "the operator " + b.op + " in the second graph");
        if (a.arguments.size() != b.arguments.size())
            return differ(where + "the number of arguments");
        for (std::size_t i = 0; i < a.arguments.size(); ++i)
            if (a.arguments[i].name != b.arguments[i].name ||
                !sameValue(a.arguments[i].value, b.arguments[i].value))
                return differ(where + "argument '" + a.arguments[i].name + "'");
        if (a.outputs.size() != b.outputs.size())
            return differ(where + "the number of results");
        for (std::size_t i = 0; i < a.outputs.size(); ++i) {
            const TensorMeta& metaA = m_a.value(a.outputs[i]).meta;
            const TensorMeta& metaB = m_b.value(b.outputs[i]).meta;
            if (metaA != metaB)
                return differ(where + "a result is " + print(metaA) + " and " + print(metaB));
            m_matching[static_cast<std::size_t>(a.outputs[i])] = b.outputs[i];
        }
        return !m_options.locations || compareLocations(id, where);
    }

    bool compareLocations(NodeId id, const std::string& where) {
        if (m_a.modulePath(id) != m_b.modulePath(id))
            return differ(where + "the module '" + std::string(m_a.modulePath(id)) + "' and '" +
                          std::string(m_b.modulePath(id)) + "'");
        const SourceFrame* a = m_a.sourceFrame(id);
        const SourceFrame* b = m_b.sourceFrame(id);
        if ((a == nullptr) != (b == nullptr) ||
            (a && std::tie(a->file, a->line) != std::tie(b->file, b->line)))
            return differ(where + "the source line");
        return true;
    }

    bool sameValue(const ArgumentValue& a, const ArgumentValue& b) const {
        if (a.index() != b.index())
            return false;
        if (const auto* reference = std::get_if<ValueRef>(&a))
            return match(reference->id, std::get<ValueRef>(b).id);
        if (const auto* list = std::get_if<std::vector<ValueRef>>(&a)) {
            const auto& other = std::get<std::vector<ValueRef>>(b);
            if (list->size() != other.size())
                return false;
            for (std::size_t i = 0; i < other.size(); ++i)
                if (!match((*list)[i].id, other[i].id))
                    return false;
            return true;
        }
        return a == b;
    }

    const Graph& m_a;
    const Graph& m_b;
    const CompareOptions& m_options;
    std::vector<ValueId> m_matching; ///< value of a -> value of b
    std::string m_difference;
};

} // namespace

std::optional<std::string> firstDifference(const Graph& a, const Graph& b, const CompareOptions& options) {
    return Comparison(a, b, options).run();
}

} // namespace workbench
