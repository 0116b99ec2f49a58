#include "core/graph/replicate.h"

#include "core/graph/verify.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>

namespace workbench {
namespace {

constexpr std::int64_t kMaxLayers = 10000;

/// A value that has no counterpart; verify() finds it. kNone would pass for an absent operand.
constexpr ValueId kUnknown = -2;

std::size_t at(std::int64_t id) {
    return static_cast<std::size_t>(id);
}

/// The layer number of "model.layers.12.mlp" under "model.layers"; nullopt for other paths.
std::optional<std::int64_t> layerOf(std::string_view path, std::string_view prefix) {
    if (path.size() <= prefix.size() + 1 || path.substr(0, prefix.size()) != prefix ||
        path[prefix.size()] != '.')
        return std::nullopt;
    const std::string_view rest = path.substr(prefix.size() + 1);
    std::int64_t layer = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const bool isWhole = end == rest.data() + rest.size() || *end == '.';
    return status == std::errc() && isWhole && layer >= 0 ? std::optional(layer) : std::nullopt;
}

/// A traced layer: nodes [begin, end) of the cut graph.
struct Layer {
    NodeId begin = kNone;
    NodeId end = kNone;
    ValueId hiddenIn = kNone;  ///< the value from the layer before, or from the embedding
    ValueId hiddenOut = kNone; ///< the only value that others use
};

/// Finds the traced layers and what connects them.
class LayerFinder {
public:
    LayerFinder(const Graph& cut, const LayerPlan& plan) : m_cut(cut), m_plan(plan), m_users(cut) {}

    Result<std::vector<Layer>> run() {
        findRuns();
        checkRuns();
        for (std::size_t i = 0; i < m_layers.size() && m_problem.empty(); ++i)
            findOutgoing(i);
        for (std::size_t i = 0; i < m_layers.size() && m_problem.empty(); ++i)
            findIncoming(i);
        if (!m_problem.empty())
            return Error{ErrorCode::cannotTrace,
                         "The layers of " + m_plan.prefix + " cannot be copied: " + m_problem +
                             "; trace the whole model instead.",
                         m_plan.prefix};
        return std::move(m_layers);
    }

private:
    void fail(std::string problem) {
        if (m_problem.empty())
            m_problem = std::move(problem);
    }
    std::string layerName(std::size_t layer) const { return "layer " + std::to_string(layer); }
    std::string nodeName(NodeId id) const {
        const Node& node = m_cut.node(id);
        return node.outputs.empty() ? node.op
                                    : "'" + m_cut.value(node.outputs[0]).name + "' (" + node.op + ")";
    }
    bool isInside(const Layer& layer, NodeId node) const { return node >= layer.begin && node < layer.end; }

    void findRuns() {
        for (NodeId id = 0; at(id) < m_cut.nodes.size(); ++id) {
            const std::optional<std::int64_t> number = layerOf(m_cut.modulePath(id), m_plan.prefix);
            if (!number)
                continue;
            if (*number >= kMaxLayers)
                return fail("it names layer " + std::to_string(*number));
            if (m_layers.size() <= at(*number))
                m_layers.resize(at(*number) + 1);
            Layer& layer = m_layers[at(*number)];
            layer.begin = layer.begin == kNone ? id : layer.begin;
            layer.end = id + 1;
        }
    }

    void checkRuns() {
        if (m_layers.empty())
            return fail("the trace has no node of them");
        for (std::size_t i = 0; i < m_layers.size(); ++i) {
            const Layer& layer = m_layers[i];
            if (layer.begin == kNone)
                return fail(layerName(i) + " has no node");
            for (NodeId id = layer.begin; id < layer.end; ++id)
                if (m_cut.node(id).module != kNone &&
                    layerOf(m_cut.modulePath(id), m_plan.prefix) != static_cast<std::int64_t>(i))
                    return fail("node " + nodeName(id) + " of another module lies among the nodes of " +
                                layerName(i));
            if (i > 0 && m_layers[i - 1].end != layer.begin)
                return fail("node " + nodeName(std::min(m_layers[i - 1].end, layer.begin)) +
                            " lies between " + layerName(i - 1) + " and " + layerName(i));
        }
    }

    void findOutgoing(std::size_t number) {
        Layer& layer = m_layers[number];
        for (NodeId id = layer.begin; id < layer.end; ++id)
            for (ValueId output : m_cut.node(id).outputs) {
                const std::span<const Use> uses = m_users.of(output);
                const bool leaves = std::any_of(uses.begin(), uses.end(),
                                                [&](const Use& use) { return !isInside(layer, use.node); });
                if (leaves && layer.hiddenOut != kNone)
                    return fail(layerName(number) + " gives two values to others, '" +
                                m_cut.value(layer.hiddenOut).name + "' and '" + m_cut.value(output).name +
                                "'");
                if (leaves)
                    layer.hiddenOut = output;
            }
        if (layer.hiddenOut == kNone)
            fail("nothing uses the result of " + layerName(number));
    }

    void findIncoming(std::size_t number) {
        Layer& layer = m_layers[number];
        if (number == 0) {
            findFirstHidden(layer);
            return;
        }
        layer.hiddenIn = m_layers[number - 1].hiddenOut;
        const std::span<const Use> uses = m_users.of(layer.hiddenIn);
        for (const Use& use : uses)
            if (!isInside(layer, use.node))
                return fail("the result of " + layerName(number - 1) + " is not only used by " +
                            layerName(number));
    }

    /// Layer 0 has several outer values that nobody else may use (rotary tables of its kind): the hidden
    /// state is the one that looks as the layer's result does.
    void findFirstHidden(Layer& layer) {
        const TensorMeta& wanted = m_cut.value(layer.hiddenOut).meta;
        for (NodeId id = layer.begin; id < layer.end; ++id)
            for (ValueId value : operands(m_cut.node(id))) {
                const Value& candidate = m_cut.value(value);
                if (isInside(layer, candidate.producer) || candidate.meta != wanted ||
                    value == layer.hiddenIn || isStored(value))
                    continue;
                if (layer.hiddenIn != kNone)
                    return fail("its hidden state may be '" + m_cut.value(layer.hiddenIn).name + "' or '" +
                                candidate.name + "'");
                layer.hiddenIn = value;
            }
        if (layer.hiddenIn == kNone)
            fail("layer 0 takes no value of the shape that it gives");
    }

    bool isStored(ValueId value) const {
        const Input* input = m_cut.value(value).producer == kNone ? m_cut.inputOf(value) : nullptr;
        return input && input->kind != Input::Kind::user;
    }

    const Graph& m_cut;
    const LayerPlan& m_plan;
    Users m_users;
    std::vector<Layer> m_layers;
    std::string m_problem;
};

/// Builds the whole graph from the cut one.
class Replicator {
public:
    Replicator(const Graph& cut, const LayerPlan& plan, std::vector<Layer> layers)
        : m_cut(cut), m_plan(plan), m_layers(std::move(layers)), m_shared(cut.values.size(), kUnknown),
          m_own(cut.values.size(), kUnknown) {}

    Graph run() {
        m_whole.sources = m_cut.sources;
        reserveNames();
        copyModules();
        copyInputs();
        for (NodeId id = 0; id < m_layers.front().begin; ++id)
            copyNode(id);
        ValueId hidden = m_shared[at(m_layers.front().hiddenIn)];
        for (std::int64_t i = 0; i < m_plan.count; ++i)
            hidden = copyLayer(i, hidden);
        m_shared[at(m_layers.back().hiddenOut)] = hidden;
        for (NodeId id = m_layers.back().end; at(id) < m_cut.nodes.size(); ++id)
            copyNode(id);
        for (ValueId output : m_cut.outputs)
            m_whole.outputs.push_back(m_shared[at(output)]);
        return std::move(m_whole);
    }

private:
    const Layer& templateOf(std::int64_t layer) const { return m_layers[at(m_plan.tracedAs[at(layer)])]; }

    /// "model.layers.0.mlp" -> "model.layers.7.mlp"; other text stays.
    std::string renamed(const std::string& path, std::int64_t from, std::int64_t to) const {
        if (layerOf(path, m_plan.prefix) != from)
            return path;
        const std::string head = m_plan.prefix + "." + std::to_string(from);
        return m_plan.prefix + "." + std::to_string(to) + path.substr(head.size());
    }

    /// Names outside of the layers are kept, so copies must not take them.
    void reserveNames() {
        for (const Value& value : m_cut.values)
            m_names.insert(value.name);
    }

    std::string uniqueName(const std::string& base, std::int64_t layer) {
        std::string name = base + "_l" + std::to_string(layer);
        while (!m_names.insert(name).second)
            name += "_";
        return name;
    }

    /// Parameters spell their path in their name: "p_model_layers_0_mlp_weight" ->
    /// "p_model_layers_7_mlp_weight".
    std::string inputName(const std::string& name, std::int64_t from, std::int64_t to) {
        std::string mangled = m_plan.prefix + ".";
        std::replace(mangled.begin(), mangled.end(), '.', '_');
        const std::string head = mangled + std::to_string(from) + "_";
        const std::size_t begin = name.find(head);
        if (begin == std::string::npos)
            return uniqueName(name, to);
        const std::string result =
            name.substr(0, begin) + mangled + std::to_string(to) + name.substr(begin + head.size() - 1);
        return from == to || m_names.insert(result).second || isTracedLayer(to) ? result
                                                                                : uniqueName(name, to);
    }

    /// The layer's own traced names are free when another layer's copy takes its place.
    bool isTracedLayer(std::int64_t layer) const {
        return layer < static_cast<std::int64_t>(m_layers.size());
    }

    void copyModules() {
        bool layersDone = false;
        for (const ModuleInfo& module : m_cut.modules) {
            if (!layerOf(module.path, m_plan.prefix)) {
                m_whole.modules.push_back(module);
            } else if (!layersDone) {
                layersDone = true;
                for (std::int64_t i = 0; i < m_plan.count; ++i)
                    for (const ModuleInfo& traced : m_cut.modules)
                        if (layerOf(traced.path, m_plan.prefix) == m_plan.tracedAs[at(i)])
                            m_whole.modules.push_back(
                                {renamed(traced.path, m_plan.tracedAs[at(i)], i), traced.className});
            }
        }
        for (std::size_t i = 0; i < m_whole.modules.size(); ++i)
            m_moduleIndex[m_whole.modules[i].path] = static_cast<std::int32_t>(i);
    }

    std::int32_t moduleOf(const Node& node, std::int64_t from, std::int64_t to) const {
        if (node.module == kNone)
            return kNone;
        return m_moduleIndex.at(renamed(m_cut.modules[at(node.module)].path, from, to));
    }

    void copyInputs() {
        std::vector<Input::Kind> done;
        for (const Input& input : m_cut.inputs) {
            if (!layerOf(input.target, m_plan.prefix) || input.kind == Input::Kind::user) {
                m_shared[at(input.value)] = addInput(input, m_cut.value(input.value).name, input.target);
                continue;
            }
            // All layers' parameters stand where the traced layers' did, layer by layer.
            if (std::find(done.begin(), done.end(), input.kind) != done.end())
                continue;
            done.push_back(input.kind);
            for (std::int64_t i = 0; i < m_plan.count; ++i)
                copyLayerInputs(input.kind, i);
        }
    }

    ValueId addInput(const Input& input, std::string name, std::string target) {
        const ValueId id =
            m_whole.addInput(input.kind, std::move(name), m_cut.value(input.value).meta, std::move(target));
        m_whole.inputs.back().derived = input.derived;
        return id;
    }

    void copyLayerInputs(Input::Kind kind, std::int64_t layer) {
        const std::int64_t from = m_plan.tracedAs[at(layer)];
        for (const Input& input : m_cut.inputs)
            if (input.kind == kind && layerOf(input.target, m_plan.prefix) == from)
                m_layerInputs[{layer, input.value}] =
                    addInput(input, inputName(m_cut.value(input.value).name, from, layer),
                             renamed(input.target, from, layer));
    }

    void copyNode(NodeId id) {
        const Node& node = m_cut.node(id);
        const NodeId copy = addCopy(
            node, node.module == kNone ? kNone : m_moduleIndex.at(m_cut.modules[at(node.module)].path),
            [this](ValueId value) { return m_shared[at(value)]; },
            [this](ValueId value) { return m_cut.value(value).name; });
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            m_shared[at(node.outputs[i])] = m_whole.node(copy).outputs[i];
    }

    ValueId copyLayer(std::int64_t number, ValueId hidden) {
        const std::int64_t from = m_plan.tracedAs[at(number)];
        const Layer& layer = templateOf(number);
        const auto valueOf = [&](ValueId value) {
            if (value == layer.hiddenIn)
                return hidden;
            const NodeId producer = m_cut.value(value).producer;
            if (producer >= layer.begin && producer < layer.end)
                return m_own[at(value)];
            if (m_shared[at(value)] != kUnknown)
                return m_shared[at(value)];
            const auto own = m_layerInputs.find({number, value});
            return own == m_layerInputs.end() ? kUnknown : own->second;
        };
        const auto nameOf = [&](ValueId value) {
            const std::string& name = m_cut.value(value).name;
            return number == from ? name : uniqueName(name, number);
        };
        for (NodeId id = layer.begin; id < layer.end; ++id) {
            const Node& node = m_cut.node(id);
            const NodeId copy = addCopy(node, moduleOf(node, from, number), valueOf, nameOf);
            for (std::size_t i = 0; i < node.outputs.size(); ++i)
                m_own[at(node.outputs[i])] = m_whole.node(copy).outputs[i];
            setLayerNumber(m_whole.nodes.back(), number);
        }
        return m_own[at(layer.hiddenOut)];
    }

    template <typename ValueOf, typename NameOf>
    NodeId addCopy(const Node& node, std::int32_t module, const ValueOf& valueOf, const NameOf& nameOf) {
        std::vector<Argument> arguments = node.arguments;
        for (Argument& argument : arguments) {
            if (auto* single = std::get_if<ValueRef>(&argument.value)) {
                single->id = single->id == kNone ? kNone : valueOf(single->id);
            } else if (auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
                for (ValueRef& reference : *list)
                    reference.id = reference.id == kNone ? kNone : valueOf(reference.id);
            }
        }
        std::vector<std::pair<std::string, TensorMeta>> outputs;
        outputs.reserve(node.outputs.size());
        for (ValueId output : node.outputs)
            outputs.emplace_back(nameOf(output), m_cut.value(output).meta);
        return m_whole.addNode(node.op, std::move(arguments), std::move(outputs), module, node.source);
    }

    static void setLayerNumber(Node& node, std::int64_t number) {
        if (node.op != "workbench.attention")
            return;
        for (Argument& argument : node.arguments)
            if (argument.name == "layer")
                argument.value = SymInt(number);
    }

    const Graph& m_cut;
    const LayerPlan& m_plan;
    std::vector<Layer> m_layers;
    Graph m_whole;
    std::vector<ValueId> m_shared; ///< value of the cut graph -> value outside of the layers
    std::vector<ValueId> m_own;    ///< value of the cut graph -> value in the layer being copied
    std::map<std::pair<std::int64_t, ValueId>, ValueId> m_layerInputs;
    std::map<std::string, std::int32_t> m_moduleIndex;
    std::unordered_set<std::string> m_names;
};

Status checkPlan(const LayerPlan& plan, std::size_t traced) {
    const auto fail = [&](const std::string& problem) {
        return Error{ErrorCode::badInput, "The layer plan of " + plan.prefix + " is wrong: " + problem + ".",
                     plan.prefix};
    };
    if (plan.count < 1 || plan.count > kMaxLayers || plan.tracedAs.size() != at(plan.count))
        return fail("it lists " + std::to_string(plan.tracedAs.size()) + " of " + std::to_string(plan.count) +
                    " layers");
    for (std::int64_t layer : plan.tracedAs)
        if (layer < 0 || at(layer) >= traced)
            return fail("it refers to traced layer " + std::to_string(layer) + ", and " +
                        std::to_string(traced) + " were traced");
    return Ok{};
}

} // namespace

Result<Graph> replicateLayers(const Graph& cut, const LayerPlan& plan) {
    Result<std::vector<Layer>> layers = LayerFinder(cut, plan).run();
    if (!layers)
        return layers.error();
    const Status planned = checkPlan(plan, layers->size());
    if (!planned)
        return planned.error();
    Graph whole = Replicator(cut, plan, std::move(*layers)).run();
    const Status verified = verify(whole);
    if (!verified)
        return Error{ErrorCode::cannotTrace,
                     "The layers of " + plan.prefix + " cannot be copied: " + verified.error().message,
                     plan.prefix};
    return whole;
}

} // namespace workbench
