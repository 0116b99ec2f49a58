#include "core/archive/pt2_graph.h"

#include "core/archive/pt2_json.h"
#include "core/archive/pt2_metadata.h"
#include "core/archive/pt2_schema.h"
#include "core/graph/op_kinds.h"
#include "core/graph/verify.h"

#include <algorithm>
#include <unordered_set>

namespace workbench::pt2 {
namespace {

/// Longer module paths are damage, and would make a tree of that depth.
constexpr std::size_t kMaxPath = 1000;
constexpr int kMaxSubgraphDepth = 20;

class GraphBuilder {
public:
    Result<Graph> run(const Json& program) {
        const Json& module = program.at("graph_module");
        Scope scope(module.at("graph"), m_sizes);
        addInputs(scope, module.at("signature").at("input_specs"));
        addNodes(scope);
        addOutputs(scope, module.at("signature").at("output_specs"));
        if (m_fault)
            return Error{ErrorCode::badInput, m_fault.text, m_fault.where};
        const Status verified = verify(m_graph);
        if (!verified)
            return verified.error();
        return std::move(m_graph);
    }

private:
    /// Keeps the first fault. `text` is a clause: "'add_' (aten.add_.Tensor) writes to its input".
    void fail(std::string text, std::string where = {}) {
        if (!m_fault)
            m_fault = {std::move(text), std::move(where)};
    }

    void failAtNode(const Json& node, const std::string& text) {
        const SourceStack stack = parseStackTrace(metadata(node, "stack_trace"));
        const std::string place =
            stack.empty() ? "" : " (" + stack.back().file + ":" + std::to_string(stack.back().line) + ")";
        fail("node '" + nodeName(node) + "'" + place + ": " + text, nodeName(node));
    }

    static std::string nodeName(const Json& node) {
        const auto name = node.find("name");
        if (name != node.end() && name->is_string())
            return name->get<std::string>();
        return node.at("target").get<std::string>();
    }

    static std::string metadata(const Json& node, const char* key) {
        const Json& all = node.at("metadata");
        const auto found = all.find(key);
        return found == all.end() ? std::string() : found->get<std::string>();
    }

    // Inputs and outputs

    void addInputs(Scope& scope, const Json& specs) {
        const Json& inputs = scope.json().at("inputs");
        if (specs.size() != inputs.size())
            return fail("the signature and the graph disagree about the number of inputs");
        for (const Json& input : inputs)
            collectSymbols(scope.json(), input);
        for (std::size_t i = 0; i < inputs.size() && !m_fault; ++i)
            addInput(scope, specs[i], inputs[i]);
    }

    /// A size that is a symbol alone gives the symbol its value when the program runs.
    void collectSymbols(const Json& graph, const Json& input) {
        const auto& [kind, held] = unionMember(input);
        if (kind != "as_tensor")
            return;
        const auto meta = graph.at("tensor_values").find(nameIn(held));
        if (meta == graph.at("tensor_values").end())
            return;
        for (const Json& size : meta->at("sizes")) {
            const auto expression = size.find("as_expr");
            if (expression == size.end())
                continue;
            const Result<SymInt> parsed =
                SymInt::parse(expression->at("expr_str").get_ref<const std::string&>());
            if (parsed && parsed->symbols() == std::vector<std::string>{parsed->text()})
                m_sizes.boundSymbols.insert(parsed->text());
        }
    }

    void addInput(Scope& scope, const Json& spec, const Json& input) {
        const auto& [kind, held] = unionMember(spec);
        if (kind == "constant_input")
            return; // a Python constant of the call; the graph does not use it
        const auto& [argumentKind, argument] = unionMember(input);
        const Json& specArgument = held.at("arg");
        const std::string& specName =
            kind == "user_input" ? userInputName(specArgument) : nameIn(specArgument);
        if (argumentKind != "as_tensor" || specName.empty())
            return fail("an input of the program is not a tensor (" + kind + ", " + argumentKind + ")");
        const std::string& name = nameIn(argument);
        if (name != specName)
            return fail("the signature calls the input '" + name + "' '" + specName + "'", name);
        if (kind == "user_input")
            addTensorInput(scope, Input::Kind::user, name, name);
        else if (kind == "parameter")
            addTensorInput(scope, Input::Kind::parameter, name, held.at("parameter_name").get<std::string>());
        else if (kind == "buffer")
            addTensorInput(scope, Input::Kind::buffer, name, held.at("buffer_name").get<std::string>());
        else if (kind == "tensor_constant")
            addTensorInput(scope, Input::Kind::constant, name,
                           held.at("tensor_constant_name").get<std::string>());
        else
            fail("the input '" + name + "' is of the unsupported kind " + kind, name);
    }

    static const std::string& userInputName(const Json& argument) {
        static const std::string none;
        const auto& [kind, held] = unionMember(argument);
        return kind == "as_tensor" ? nameIn(held) : none;
    }

    void addTensorInput(Scope& scope, Input::Kind kind, const std::string& name, std::string target) {
        std::string problem;
        std::optional<TensorMeta> meta = scope.meta(name, problem);
        if (!meta)
            return fail(problem, name);
        scope.bindTensor(name, m_graph.addInput(kind, uniqueName(name), std::move(*meta), std::move(target)));
    }

    void addOutputs(const Scope& scope, const Json& specs) {
        for (const Json& spec : specs) {
            const auto& [kind, held] = unionMember(spec);
            if (kind != "user_output" && kind != "loss_output")
                return fail("the program has an output of the kind " + kind + mutated(held) +
                            ": only programs that change none of their inputs and buffers can be used");
            const Json& argument = held.at("arg");
            const Json* tensor = &argument;
            if (kind == "user_output") {
                const auto& [argumentKind, value] = unionMember(argument);
                if (argumentKind == "as_none")
                    continue;
                if (argumentKind != "as_tensor")
                    return fail("an output of the program is not a tensor (" + argumentKind + ")");
                tensor = &value;
            }
            const std::optional<ValueId> id = scope.tensor(nameIn(*tensor));
            if (!id)
                return fail("the output '" + nameIn(*tensor) + "' is made by no node", nameIn(*tensor));
            m_graph.outputs.push_back(*id);
        }
    }

    static std::string mutated(const Json& spec) {
        for (const char* key : {"buffer_name", "parameter_name", "user_input_name"})
            if (const auto found = spec.find(key); found != spec.end() && found->is_string())
                return " ('" + found->get<std::string>() + "')";
        return {};
    }

    // Nodes

    void addNodes(Scope& scope) {
        for (const Json& node : scope.json().at("nodes")) {
            addNode(scope, node);
            if (m_fault)
                return;
        }
    }

    void addNode(Scope& scope, const Json& node) {
        const std::string& target = node.at("target").get_ref<const std::string&>();
        constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
        if (target.substr(0, kHigherOrder.size()) == kHigherOrder)
            return inlineRegion(scope, node, target.substr(kHigherOrder.size()));
        const Json& outputs = node.at("outputs");
        if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), isSymbolic))
            return; // its value is an expression in the scalar table
        const std::optional<std::string> op = opFromTarget(target);
        if (!op)
            return failAtNode(node, "the target '" + target.substr(0, 200) +
                                        "' is not an operator that a graph can hold");
        if (isAssertion(*op))
            return;
        if (isMutation(*op))
            return failAtNode(node, "the operator " + *op +
                                        " writes to its input; call run_decompositions({}) on the exported "
                                        "program before saving it");
        addOperator(scope, node, *op);
    }

    static bool isSymbolic(const Json& output) { return unionMember(output).first.substr(0, 7) == "as_sym_"; }

    void addOperator(Scope& scope, const Json& node, const std::string& op) {
        std::vector<Argument> arguments = readArguments(scope, node);
        const std::vector<std::string> names = resultNames(node);
        if (names.empty())
            failAtNode(node, "the operator " + op + " returns nothing, so it must change something");
        if (m_fault)
            return;
        if (updatesStatistics(op, arguments))
            return failAtNode(node, "the operator " + op +
                                        " updates its running statistics; export the model in eval mode");
        std::vector<std::pair<std::string, TensorMeta>> outputs;
        for (const std::string& name : names) {
            std::string problem;
            std::optional<TensorMeta> meta = scope.meta(name, problem);
            if (!meta)
                return failAtNode(node, problem);
            outputs.emplace_back(uniqueName(name), std::move(*meta));
        }
        const NodeId id =
            m_graph.addNode(op, std::move(arguments), std::move(outputs), moduleOf(node), sourceOf(node));
        for (std::size_t i = 0; i < names.size(); ++i)
            scope.bindTensor(names[i], m_graph.node(id).outputs[i]);
    }

    std::vector<Argument> readArguments(Scope& scope, const Json& node) {
        std::vector<Argument> arguments;
        for (const Json& input : node.at("inputs")) {
            Argument& argument = arguments.emplace_back();
            argument.name = input.at("name").get<std::string>();
            if (!isWord(argument.name))
                failAtNode(node, "an argument's name is no word");
            if (m_fault)
                break;
            readArgument(scope, node, input.at("arg"), argument);
        }
        return arguments;
    }

    /// Names of the tensors that a node returns, lists of tensors one after the other.
    std::vector<std::string> resultNames(const Json& node) {
        std::vector<std::string> names;
        for (const Json& output : node.at("outputs")) {
            const auto& [kind, held] = unionMember(output);
            if (kind == "as_tensor")
                names.push_back(nameIn(held));
            else if (kind == "as_tensors")
                for (const Json& tensor : held)
                    names.push_back(nameIn(tensor));
            else
                failAtNode(node, "it returns something that is not a tensor (" + kind + ")");
        }
        return names;
    }

    /// Batch normalisation in training mode writes to its buffers without saying so in its name.
    static bool updatesStatistics(const std::string& op, const std::vector<Argument>& arguments) {
        return op.find("batch_norm") != std::string::npos &&
               std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
                   const auto* training = std::get_if<bool>(&argument.value);
                   return argument.name == "training" && training && *training;
               });
    }

    /// Names of a subgraph may repeat those of the graph around it.
    std::string uniqueName(const std::string& name) {
        std::string unique = name;
        for (int i = 1; !m_names.insert(unique).second; ++i)
            unique = name + "_r" + std::to_string(i);
        return unique;
    }

    std::int32_t moduleOf(const Json& node) {
        const std::string text = metadata(node, "nn_module_stack");
        const auto known = m_modules.find(text);
        if (known != m_modules.end())
            return known->second;
        std::int32_t index = kNone;
        for (ModuleInfo& module : parseModuleStack(text))
            if (module.path.size() <= kMaxPath)
                index = m_graph.addModule(std::move(module));
        m_modules.emplace(text, index);
        return index;
    }

    std::int32_t sourceOf(const Json& node) {
        const std::string text = metadata(node, "stack_trace");
        const auto known = m_sources.find(text);
        if (known != m_sources.end())
            return known->second;
        SourceStack stack = parseStackTrace(text);
        const std::int32_t index = stack.empty() ? kNone : m_graph.addSource(std::move(stack));
        m_sources.emplace(text, index);
        return index;
    }

    // Arguments

    void readArgument(Scope& scope, const Json& node, const Json& json, Argument& argument) {
        const auto& [kind, held] = unionMember(json);
        if (kind == "as_none")
            argument.value = None{};
        else if (kind == "as_tensor")
            argument.value = reference(scope, node, held);
        else if (kind == "as_tensors" || kind == "as_optional_tensors")
            argument.value = references(scope, node, held);
        else if (kind == "as_optional_tensor")
            readArgument(scope, node, held, argument);
        else if (kind == "as_int")
            argument.value = SymInt(held.get<std::int64_t>());
        else if (kind == "as_ints" || kind == "as_sym_ints")
            argument.value = sizes(scope, node, held);
        else if (kind == "as_sym_int")
            argument.value = size(scope, node, held);
        else if (kind == "as_float")
            argument.value = floatFrom(held);
        else if (kind == "as_bool")
            argument.value = held.get<bool>();
        else if (kind == "as_string")
            argument.value = held.get<std::string>();
        else if (kind == "as_floats")
            argument.value = list<double>(held, floatFrom);
        else if (kind == "as_bools")
            argument.value = list<bool>(held, [](const Json& element) { return element.get<bool>(); });
        else if (!readEnumeration(kind, held, argument))
            failAtNode(node, "the argument '" + argument.name + "' of " +
                                 node.at("target").get<std::string>() +
                                 " has a value that a graph cannot hold (" + kind + ")");
    }

    /// Enumerations of torch, and symbolic floats and booleans that are plain numbers.
    static bool readEnumeration(const std::string& kind, const Json& held, Argument& argument) {
        if (kind == "as_scalar_type") {
            const std::optional<ScalarType> type = scalarType(held.get<std::int64_t>());
            if (type)
                argument.value = *type;
            return type.has_value();
        }
        if (kind == "as_layout" || kind == "as_memory_format") {
            const bool isLayout = kind == "as_layout";
            const auto name =
                isLayout ? layoutName(held.get<std::int64_t>()) : memoryFormatName(held.get<std::int64_t>());
            if (name)
                argument.value = Keyword{isLayout ? Keyword::Kind::layout : Keyword::Kind::memoryFormat,
                                         std::string(*name)};
            return name.has_value();
        }
        if (kind == "as_device") {
            std::string device = held.at("type").get<std::string>();
            const auto index = held.find("index");
            if (index != held.end() && !index->is_null())
                device += ":" + std::to_string(index->get<int>());
            argument.value = Keyword{Keyword::Kind::device, device};
            return device.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_:") == std::string::npos;
        }
        if (kind == "as_sym_float" && held.contains("as_float")) {
            argument.value = floatFrom(held.at("as_float"));
            return true;
        }
        if (kind == "as_sym_bool" && held.contains("as_bool")) {
            argument.value = held.at("as_bool").get<bool>();
            return true;
        }
        return false;
    }

    template <typename Element, typename Read>
    static std::vector<Element> list(const Json& json, Read read) {
        std::vector<Element> elements;
        for (const Json& element : json.get_ref<const Json::array_t&>())
            elements.push_back(read(element));
        return elements;
    }

    ValueRef reference(const Scope& scope, const Json& node, const Json& tensor) {
        const std::optional<ValueId> id = scope.tensor(nameIn(tensor));
        if (!id)
            failAtNode(node, "it uses the tensor '" + nameIn(tensor) + "', which nothing before it makes");
        return ValueRef{id.value_or(kNone)};
    }

    std::vector<ValueRef> references(const Scope& scope, const Json& node, const Json& json) {
        return list<ValueRef>(json, [&](const Json& element) {
            if (element.contains("as_none"))
                return ValueRef{};
            return reference(scope, node, element.contains("as_tensor") ? element.at("as_tensor") : element);
        });
    }

    SymInt size(Scope& scope, const Json& node, const Json& json) {
        if (json.is_number())
            return SymInt(json.get<std::int64_t>());
        if (const auto constant = json.find("as_int"); constant != json.end())
            return SymInt(constant->get<std::int64_t>());
        std::string problem;
        std::optional<SymInt> value = scope.scalar(json.at("as_name").get_ref<const std::string&>(), problem);
        if (!value)
            failAtNode(node, problem);
        return value.value_or(SymInt());
    }

    std::vector<SymInt> sizes(Scope& scope, const Json& node, const Json& json) {
        return list<SymInt>(json, [&](const Json& element) { return size(scope, node, element); });
    }

    // Regions

    /// Regions that change no number (gradients on or off, autocast off) are replaced by their nodes.
    void inlineRegion(Scope& scope, const Json& node, const std::string& op) {
        const Json& inputs = node.at("inputs");
        std::size_t graphAt = 0;
        while (graphAt < inputs.size() && !inputs[graphAt].at("arg").contains("as_graph"))
            ++graphAt;
        const bool isAutocast = op == "wrap_with_autocast";
        const bool isHarmless =
            op == "wrap_with_set_grad_enabled" ||
            (isAutocast && graphAt > 2 && inputs[2].at("arg").value("as_bool", true) == false);
        if (!isHarmless || graphAt == inputs.size() || ++m_depth > kMaxSubgraphDepth)
            return failAtNode(node, "it runs a subgraph by the operator " + op.substr(0, 100) +
                                        "; only flat programs can be used");
        const Json& inner = inputs[graphAt].at("arg").at("as_graph").at("graph");
        Scope region(inner, m_sizes);
        const Json& names = inner.at("inputs");
        if (names.size() != inputs.size() - graphAt - 1)
            return failAtNode(node, "its subgraph takes another number of inputs");
        for (std::size_t i = 0; i < names.size(); ++i)
            bindRegionInput(scope, node, inputs[graphAt + 1 + i].at("arg"), names[i], region);
        if (!m_fault)
            addNodes(region);
        if (!m_fault)
            bindRegionOutputs(scope, node, region);
        --m_depth;
    }

    void bindRegionInput(Scope& scope, const Json& node, const Json& outer, const Json& inner,
                         Scope& region) {
        const auto& [outerKind, outerHeld] = unionMember(outer);
        const auto& [innerKind, innerHeld] = unionMember(inner);
        if (outerKind == "as_tensor" && innerKind == "as_tensor")
            region.bindTensor(nameIn(innerHeld), reference(scope, node, outerHeld).id);
        else if (innerKind == "as_sym_int" && (outerKind == "as_sym_int" || outerKind == "as_int"))
            region.bindScalar(innerHeld.at("as_name").get<std::string>(), size(scope, node, outerHeld));
        else
            failAtNode(node, "its subgraph takes an input that is not a tensor (" + outerKind + ")");
    }

    void bindRegionOutputs(Scope& scope, const Json& node, const Scope& region) {
        const std::vector<std::string> names = resultNames(node);
        const Json& results = region.json().at("outputs");
        if (results.size() != names.size())
            return failAtNode(node, "its subgraph returns another number of tensors");
        for (std::size_t i = 0; i < names.size() && !m_fault; ++i)
            scope.bindTensor(names[i], reference(region, node, results[i].at("as_tensor")).id);
    }

    Graph m_graph;
    SizeReader m_sizes;
    Fault m_fault;
    int m_depth = 0;
    std::unordered_set<std::string> m_names;
    std::unordered_map<std::string, std::int32_t> m_modules;
    std::unordered_map<std::string, std::int32_t> m_sources;
};

} // namespace

Result<Graph> buildGraph(const Json& program) {
    return GraphBuilder().run(program);
}

} // namespace workbench::pt2
