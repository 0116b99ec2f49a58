#include "core/graph/verify.h"

#include <unordered_set>

namespace workbench {
namespace {

class Verifier {
public:
    explicit Verifier(const Graph& graph) : m_graph(graph), m_defined(graph.values.size(), false) {}

    Status run() {
        checkModules();
        checkNames();
        checkInputs();
        for (std::size_t i = 0; i < m_graph.nodes.size() && m_problem.empty(); ++i)
            checkNode(static_cast<NodeId>(i));
        checkValues();
        for (ValueId output : m_graph.outputs)
            if (!isDefined(output))
                problem("an output of the graph is not a value of the graph", {});
        if (!m_problem.empty())
            return Error{ErrorCode::badInput, "The graph is inconsistent: " + m_problem + ".", m_where};
        return Ok{};
    }

private:
    void problem(std::string text, std::string where) {
        if (!m_problem.empty())
            return;
        m_problem = std::move(text);
        m_where = std::move(where);
    }

    bool inRange(ValueId id) const { return id >= 0 && static_cast<std::size_t>(id) < m_graph.values.size(); }
    bool isDefined(ValueId id) const { return inRange(id) && m_defined[static_cast<std::size_t>(id)]; }

    std::string nodeText(NodeId id) const {
        const Node& node = m_graph.node(id);
        std::string text = "node " + std::to_string(id);
        if (!node.outputs.empty() && inRange(node.outputs[0]))
            text += " '" + m_graph.value(node.outputs[0]).name + "'";
        return text + " (" + node.op + ")";
    }

    void checkModules() {
        std::unordered_set<std::string_view> paths;
        for (const ModuleInfo& module : m_graph.modules)
            if (!paths.insert(module.path).second)
                problem("module '" + module.path + "' is listed twice", module.path);
        for (const ModuleInfo& module : m_graph.modules) {
            if (module.path.empty())
                continue;
            const std::size_t dot = module.path.rfind('.');
            const std::string_view parent =
                dot == std::string::npos ? std::string_view() : std::string_view(module.path).substr(0, dot);
            if (paths.count(parent) == 0)
                problem("the parent of module '" + module.path + "' is missing", module.path);
        }
    }

    void checkNames() {
        std::unordered_set<std::string_view> names;
        names.reserve(m_graph.values.size());
        for (const Value& value : m_graph.values) {
            if (value.name.empty())
                problem("a value has no name", {});
            else if (!names.insert(value.name).second)
                problem("the value name '" + value.name + "' is used twice", value.name);
        }
    }

    void define(ValueId id, NodeId producer, const std::string& where) {
        if (!inRange(id))
            return problem(where + " makes a value that does not exist", where);
        if (m_defined[static_cast<std::size_t>(id)])
            return problem("the value '" + m_graph.value(id).name + "' is made twice, the second time by " +
                               where,
                           where);
        if (m_graph.value(id).producer != producer)
            return problem("the value '" + m_graph.value(id).name + "' names another producer than " + where,
                           where);
        m_defined[static_cast<std::size_t>(id)] = true;
    }

    void checkInputs() {
        for (const Input& input : m_graph.inputs) {
            define(input.value, kNone, "input '" + input.target + "'");
            if (input.derived && (input.kind != Input::Kind::parameter || input.derived->sources.empty()))
                problem("input '" + input.target + "' is derived but is no parameter or has no sources",
                        input.target);
        }
    }

    void checkNode(NodeId id) {
        const Node& node = m_graph.node(id);
        if (node.op.empty())
            problem("node " + std::to_string(id) + " has no operator", {});
        for (ValueId operand : operands(node))
            if (!isDefined(operand))
                return problem(nodeText(id) + " uses " +
                                   (inRange(operand)
                                        ? "'" + m_graph.value(operand).name + "' before it is made"
                                        : std::string("a value that does not exist")),
                               nodeText(id));
        if (node.module < kNone || node.module >= static_cast<std::int32_t>(m_graph.modules.size()) ||
            node.source < kNone || node.source >= static_cast<std::int32_t>(m_graph.sources.size()))
            problem(nodeText(id) + " refers to a module or source that does not exist", nodeText(id));
        if (node.outputs.size() == 1) {
            const ValueId only = node.outputs[0];
            if (inRange(only) && !isDefined(only) && m_graph.value(only).producer == id) {
                m_defined[static_cast<std::size_t>(only)] = true;
                return;
            }
        }
        for (ValueId output : node.outputs)
            define(output, id, nodeText(id));
    }

    void checkValues() {
        for (std::size_t i = 0; i < m_graph.values.size(); ++i)
            if (!m_defined[i])
                problem("nothing makes the value '" + m_graph.values[i].name + "'", m_graph.values[i].name);
    }

    const Graph& m_graph;
    std::vector<bool> m_defined;
    std::string m_problem;
    std::string m_where;
};

} // namespace

Status verify(const Graph& graph) {
    return Verifier(graph).run();
}

} // namespace workbench
