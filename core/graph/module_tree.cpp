#include "core/graph/module_tree.h"

#include "core/graph/module_path.h"
#include "core/graph/text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

namespace workbench {
namespace {

constexpr std::int32_t kRoot = 0;

/// A module before folding.
struct Branch {
    std::string path;
    std::string name;
    std::string className;
    std::vector<std::int32_t> children;
    std::vector<NodeId> nodes;       ///< its own ones
    std::vector<std::size_t> stored; ///< indices of its own inputs
};

std::int64_t bytesOf(const TensorMeta& meta) {
    std::int64_t bytes = static_cast<std::int64_t>(bytesPerElement(meta.dtype));
    for (const SymInt& size : meta.shape)
        if (!size.isConstant() || __builtin_mul_overflow(bytes, size.constant(), &bytes))
            return 0;
    return bytes;
}

std::string ranges(const std::vector<std::int64_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
            ++end;
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (end > i)
            text += "-" + std::to_string(numbers[end]);
        i = end + 1;
    }
    return text;
}

class TreeBuilder {
public:
    explicit TreeBuilder(const Graph& graph) : m_graph(graph), m_inputOfValue(graph.values.size(), -1) {
        m_branches.push_back({});
        m_byPath[""] = kRoot;
    }

    ModuleTree run() {
        for (const ModuleInfo& module : m_graph.modules)
            m_branches[at(branch(module.path))].className = module.className;
        for (std::size_t i = 0; i < m_graph.inputs.size(); ++i)
            addInput(i);
        for (NodeId id = 0; at(id) < m_graph.nodes.size(); ++id)
            m_branches[at(branch(std::string(m_graph.modulePath(id))))].nodes.push_back(id);
        return tree(kRoot);
    }

private:
    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

    std::int32_t branch(const std::string& path) {
        if (const auto known = m_byPath.find(path); known != m_byPath.end())
            return known->second;
        const std::size_t dot = path.rfind('.');
        const std::int32_t parent = branch(dot == std::string::npos ? std::string() : path.substr(0, dot));
        const auto index = static_cast<std::int32_t>(m_branches.size());
        m_branches.push_back({path, dot == std::string::npos ? path : path.substr(dot + 1), {}, {}, {}, {}});
        m_branches[at(parent)].children.push_back(index);
        m_byPath.emplace(path, index);
        return index;
    }

    void addInput(std::size_t index) {
        const Input& input = m_graph.inputs[index];
        m_inputOfValue[at(input.value)] = static_cast<std::int32_t>(index);
        if (input.kind != Input::Kind::parameter && input.kind != Input::Kind::buffer)
            return;
        const std::size_t dot = input.target.rfind('.');
        m_branches[at(branch(dot == std::string::npos ? std::string() : input.target.substr(0, dot)))]
            .stored.push_back(index);
    }

    ModuleTree tree(std::int32_t index) const {
        const Branch& own = m_branches[at(index)];
        ModuleTree result;
        result.label = own.name;
        result.path = own.path;
        result.className = own.className;
        result.paths = {own.path};
        result.nodes = static_cast<std::int64_t>(own.nodes.size());
        for (std::size_t input : own.stored)
            if (m_graph.inputs[input].kind == Input::Kind::parameter)
                result.parameterBytes += bytesOf(m_graph.value(m_graph.inputs[input].value).meta);
        for (const std::vector<std::int32_t>& alike : groups(own.children)) {
            ModuleTree child = tree(alike.front());
            fold(child, alike);
            if (child.nodes == 0 && child.parameterBytes == 0)
                continue;
            result.nodes += child.nodes * child.count;
            result.parameterBytes += child.parameterBytes * child.count;
            result.children.push_back(std::move(child));
        }
        return result;
    }

    void fold(ModuleTree& child, const std::vector<std::int32_t>& alike) const {
        if (alike.size() < 2)
            return;
        std::vector<std::int64_t> numbers;
        child.paths.clear();
        for (std::int32_t index : alike) {
            child.paths.push_back(m_branches[at(index)].path);
            numbers.push_back(std::stoll(m_branches[at(index)].name));
        }
        child.label = ranges(numbers);
        child.count = static_cast<std::int64_t>(alike.size());
    }

    /// Children in order of first appearance; numbered ones that are alike together.
    std::vector<std::vector<std::int32_t>> groups(const std::vector<std::int32_t>& children) const {
        std::vector<std::vector<std::int32_t>> result;
        std::unordered_map<std::string, std::size_t> byDescription;
        for (std::int32_t child : children) {
            if (!isNumberPart(m_branches[at(child)].name)) {
                result.push_back({child});
                continue;
            }
            const auto [known, isNew] = byDescription.try_emplace(describe(child), result.size());
            if (isNew)
                result.push_back({child});
            else
                result[known->second].push_back(child);
        }
        for (std::vector<std::int32_t>& group : result)
            std::sort(group.begin(), group.end(), [this](std::int32_t a, std::int32_t b) {
                return std::stoll("0" + digits(a)) < std::stoll("0" + digits(b));
            });
        return result;
    }

    std::string digits(std::int32_t index) const {
        const std::string& name = m_branches[at(index)].name;
        return isNumberPart(name) ? name : std::string();
    }

    // Descriptions: equal for modules that are alike

    void collect(std::int32_t index, std::vector<NodeId>& nodes, std::string& text,
                 std::size_t prefix) const {
        const Branch& own = m_branches[at(index)];
        text += own.path.substr(prefix) + ' ' + own.className + '\n';
        for (std::size_t input : own.stored) {
            const Input& stored = m_graph.inputs[input];
            text += stored.target.substr(prefix) + ' ';
            appendMeta(m_graph.value(stored.value).meta, text);
        }
        nodes.insert(nodes.end(), own.nodes.begin(), own.nodes.end());
        for (std::int32_t child : own.children)
            collect(child, nodes, text, prefix);
    }

    static void appendMeta(const TensorMeta& meta, std::string& text) {
        text += name(meta.dtype);
        for (const SymInt& size : meta.shape)
            text += ' ' + size.text();
        text += '\n';
    }

    std::string describe(std::int32_t index) const {
        std::string text;
        std::vector<NodeId> nodes;
        const std::string& path = m_branches[at(index)].path;
        collect(index, nodes, text, path.size());
        std::sort(nodes.begin(), nodes.end());
        std::unordered_map<ValueId, std::string> names;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            describeNode(m_graph.node(nodes[i]), i, path, names, text);
        return text;
    }

    void describeNode(const Node& node, std::size_t number, const std::string& path,
                      std::unordered_map<ValueId, std::string>& names, std::string& text) const {
        text += node.op;
        for (const Argument& argument : node.arguments) {
            text += ' ' + argument.name + '=';
            if (argument.name == "layer" && node.op == "workbench.attention")
                continue;
            if (const auto* single = std::get_if<ValueRef>(&argument.value)) {
                text += nameOf(single->id, path, names);
            } else if (const auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
                for (const ValueRef& reference : *list)
                    text += nameOf(reference.id, path, names) + ',';
            } else {
                text += print(argument.value, m_graph);
            }
        }
        text += '\n';
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            names[node.outputs[i]] = "#" + std::to_string(number) + "." + std::to_string(i);
            appendMeta(m_graph.value(node.outputs[i]).meta, text);
        }
    }

    /// Inner values by the node that makes them, own parameters by their name in the module, outer values by
    /// order of use.
    std::string nameOf(ValueId value, const std::string& path,
                       std::unordered_map<ValueId, std::string>& names) const {
        if (value == kNone)
            return "none";
        if (const auto known = names.find(value); known != names.end())
            return known->second;
        const std::int32_t input = m_inputOfValue[at(value)];
        const std::string* target = input >= 0 ? &m_graph.inputs[at(input)].target : nullptr;
        const bool isOwn = target && target->size() > path.size() &&
                           target->compare(0, path.size(), path) == 0 && (*target)[path.size()] == '.';
        std::string result = isOwn ? target->substr(path.size()) : "outer" + std::to_string(names.size());
        names.emplace(value, result);
        return result;
    }

    const Graph& m_graph;
    std::vector<std::int32_t> m_inputOfValue;
    std::vector<Branch> m_branches;
    std::unordered_map<std::string, std::int32_t> m_byPath;
};

} // namespace

ModuleTree buildModuleTree(const Graph& graph) {
    return TreeBuilder(graph).run();
}

} // namespace workbench
