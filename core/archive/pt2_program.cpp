#include "core/archive/pt2_program.h"

#include "core/archive/pt2_schema.h"
#include "core/archive/pt2_sizes.h"

#include <algorithm>
#include <cmath>

namespace workbench::pt2 {

using Json = nlohmann::json;

namespace {

constexpr std::int64_t kSchemaMinor = 8; // nothing newer is used
constexpr const char* kTorchVersion = "2.11.0";

std::size_t at(std::int64_t id) {
    return static_cast<std::size_t>(id);
}

bool isIdentifier(std::string_view name) {
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}

Json floatJson(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

/// A contiguous CPU tensor; `write` makes the JSON of one size.
template <typename Write>
Json contiguousMeta(const TensorMeta& meta, Write write) {
    constexpr int kStrided = 7; // torch._export.serde.schema.Layout
    Json sizes = Json::array();
    std::vector<SymInt> strides(meta.shape.size(), SymInt(1));
    for (std::size_t i = meta.shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * meta.shape[i];
    Json strideList = Json::array();
    for (std::size_t i = 0; i < meta.shape.size(); ++i) {
        sizes.push_back(write(meta.shape[i]));
        strideList.push_back(write(strides[i]));
    }
    return {{"dtype", code(meta.dtype)},
            {"sizes", std::move(sizes)},
            {"requires_grad", false},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"strides", std::move(strideList)},
            {"storage_offset", {{"as_int", 0}}},
            {"layout", kStrided}};
}

class ProgramWriter {
public:
    ProgramWriter(const Graph& graph, const Json& envelope)
        : m_graph(graph), m_envelope(envelope), m_inputs(keptInputs(graph)),
          m_names(uniqueIdentifiers(graph)), m_sizes(renamedInputs(graph), {m_names.begin(), m_names.end()}) {
    }

    Result<Json> run() {
        Json nodes = Json::array();
        for (const Node& node : m_graph.nodes)
            nodes.push_back(nodeJson(node));
        Json tensors = Json::object();
        for (const Input* input : m_inputs)
            tensors[nameOf(input->value)] = metaJson(m_graph.value(input->value).meta);
        for (const Node& node : m_graph.nodes)
            for (ValueId output : node.outputs)
                tensors[nameOf(output)] = metaJson(m_graph.value(output).meta);
        Json all = std::move(m_sizes.nodes);
        for (Json& node : nodes)
            all.push_back(std::move(node));
        Json graph = {{"inputs", Json::array()},
                      {"outputs", Json::array()},
                      {"nodes", std::move(all)},
                      {"tensor_values", tensors},
                      {"sym_int_values", m_sizes.values},
                      {"sym_bool_values", Json::object()},
                      {"sym_float_values", Json::object()},
                      {"custom_obj_values", Json::object()},
                      {"is_single_tensor_return", false}};
        for (const Input* input : m_inputs)
            graph["inputs"].push_back(tensorArgument(input->value));
        for (ValueId output : m_graph.outputs)
            graph["outputs"].push_back(tensorArgument(output));
        if (!m_problem.empty() || !m_sizes.problem().empty())
            return Error{ErrorCode::badInput,
                         "The graph cannot be written as an archive: " +
                             (m_problem.empty() ? m_sizes.problem() : m_problem) + ".",
                         {}};
        return programJson(std::move(graph));
    }

private:
    /// Python identifiers for all values; those that already are keep their name.
    static std::vector<std::string> uniqueIdentifiers(const Graph& graph) {
        std::unordered_set<std::string> taken;
        for (const Value& value : graph.values)
            taken.insert(value.name);
        std::vector<std::string> names;
        for (const Value& value : graph.values) {
            std::string name = value.name;
            if (!isIdentifier(name)) {
                std::replace_if(
                    name.begin(), name.end(), [](char c) { return !isIdentifier(std::string("_") + c); },
                    '_');
                name = "v_" + name;
                while (!taken.insert(name).second)
                    name += "_";
            }
            names.push_back(std::move(name));
        }
        return names;
    }

    /// The size writer refers to user inputs by the names that the archive gives them.
    Graph renamedInputs(const Graph& graph) const {
        Graph inputs;
        for (const Input& input : graph.inputs)
            if (input.kind == Input::Kind::user)
                inputs.addInput(input.kind, m_names[at(input.value)], graph.value(input.value).meta,
                                input.target);
        return inputs;
    }

    const std::string& nameOf(ValueId id) const { return m_names[at(id)]; }
    Json tensorArgument(ValueId id) const { return {{"as_tensor", {{"name", nameOf(id)}}}}; }

    Json metaJson(const TensorMeta& meta) {
        return contiguousMeta(meta, [this](const SymInt& size) { return m_sizes.size(size); });
    }

    Json nodeJson(const Node& node) {
        Json inputs = Json::array();
        for (const Argument& argument : node.arguments)
            inputs.push_back(
                {{"name", argument.name}, {"arg", argumentJson(argument.value)}, {"kind", nullptr}});
        Json outputs = Json::array();
        if (returnsList(node.op)) {
            Json list = Json::array();
            for (ValueId output : node.outputs)
                list.push_back({{"name", nameOf(output)}});
            outputs.push_back({{"as_tensors", std::move(list)}});
        } else {
            for (ValueId output : node.outputs)
                outputs.push_back(tensorArgument(output));
        }
        Json json = {{"target", targetFromOp(node.op)},
                     {"inputs", std::move(inputs)},
                     {"outputs", std::move(outputs)},
                     {"metadata", metadataJson(node)}};
        // A node with one tensor is known by it; others get their own name from torch.
        json["name"] =
            node.outputs.size() == 1 && !returnsList(node.op) ? Json(nameOf(node.outputs[0])) : Json(nullptr);
        return json;
    }

    Json argumentJson(const ArgumentValue& value) {
        return std::visit([this](const auto& held) { return heldJson(held); }, value);
    }
    Json heldJson(const None&) { return {{"as_none", true}}; }
    Json heldJson(bool held) { return {{"as_bool", held}}; }
    Json heldJson(const SymInt& held) {
        if (held.isConstant())
            return {{"as_int", held.constant()}};
        return {{"as_sym_int", m_sizes.operand(held)}};
    }
    Json heldJson(double held) { return {{"as_float", floatJson(held)}}; }
    Json heldJson(const std::string& held) { return {{"as_string", held}}; }
    Json heldJson(ScalarType held) { return {{"as_scalar_type", code(held)}}; }
    Json heldJson(const Keyword& held) {
        if (held.kind == Keyword::Kind::device) {
            const std::size_t colon = held.name.find(':');
            Json index =
                colon == std::string::npos ? Json(nullptr) : Json(std::atoi(held.name.c_str() + colon + 1));
            return {{"as_device", {{"type", held.name.substr(0, colon)}, {"index", std::move(index)}}}};
        }
        const bool isLayout = held.kind == Keyword::Kind::layout;
        const std::optional<std::int64_t> known =
            isLayout ? layoutCode(held.name) : memoryFormatCode(held.name);
        if (!known)
            m_problem = "'" + held.name + "' is no layout or memory format of torch";
        return {{isLayout ? "as_layout" : "as_memory_format", known.value_or(0)}};
    }
    Json heldJson(const ValueRef& held) { return tensorArgument(held.id); }
    Json heldJson(const std::vector<ValueRef>& held) {
        const bool hasAbsent = std::any_of(held.begin(), held.end(),
                                           [](const ValueRef& reference) { return reference.id == kNone; });
        Json list = Json::array();
        for (const ValueRef& reference : held) {
            if (!hasAbsent)
                list.push_back({{"name", nameOf(reference.id)}});
            else
                list.push_back(reference.id == kNone ? Json{{"as_none", true}}
                                                     : tensorArgument(reference.id));
        }
        return {{hasAbsent ? "as_optional_tensors" : "as_tensors", std::move(list)}};
    }
    Json heldJson(const std::vector<SymInt>& held) {
        Json list = Json::array();
        const bool isConstant =
            std::all_of(held.begin(), held.end(), [](const SymInt& size) { return size.isConstant(); });
        for (const SymInt& size : held)
            list.push_back(isConstant ? Json(size.constant()) : m_sizes.operand(size));
        return {{isConstant ? "as_ints" : "as_sym_ints", std::move(list)}};
    }
    Json heldJson(const std::vector<double>& held) {
        Json list = Json::array();
        for (double element : held)
            list.push_back(floatJson(element));
        return {{"as_floats", std::move(list)}};
    }
    Json heldJson(const std::vector<bool>& held) { return {{"as_bools", held}}; }

    Json metadataJson(const Node& node) const {
        Json metadata = Json::object();
        if (node.module != kNone)
            metadata["nn_module_stack"] = moduleStack(m_graph.modules[at(node.module)].path);
        if (node.source != kNone) {
            std::string trace;
            for (const SourceFrame& frame : m_graph.sources[at(node.source)])
                trace += "  File \"" + frame.file + "\", line " + std::to_string(frame.line) + ", in " +
                         frame.function + "\n    " + frame.text + "\n";
            metadata["stack_trace"] = trace;
        }
        return metadata;
    }

    /// "key,path,class;..." outermost first; containers that are never called have no class and no entry.
    std::string moduleStack(const std::string& path) const {
        std::string stack;
        for (const ModuleInfo& module : m_graph.modules) {
            const bool isAncestor = module.path.empty() || module.path == path ||
                                    path.compare(0, module.path.size() + 1, module.path + ".") == 0;
            if (!isAncestor || (module.className.empty() && module.path != path))
                continue;
            stack += (stack.empty() ? "" : ";") + std::string("L__self__") + module.path + "," + module.path +
                     "," + (module.className.empty() ? "Module" : module.className);
        }
        return stack;
    }

    // The program around the graph

    Json signatureJson() const {
        Json inputs = Json::array();
        for (const Input* input : m_inputs) {
            const Json argument = {{"name", nameOf(input->value)}};
            switch (input->kind) {
            case Input::Kind::user:
                inputs.push_back({{"user_input", {{"arg", {{"as_tensor", argument}}}}}});
                break;
            case Input::Kind::parameter:
                inputs.push_back({{"parameter", {{"arg", argument}, {"parameter_name", input->target}}}});
                break;
            case Input::Kind::buffer:
                inputs.push_back({{"buffer",
                                   {{"arg", argument},
                                    {"buffer_name", input->target},
                                    {"persistent", isPersistent(m_envelope, input->target)}}}});
                break;
            case Input::Kind::constant:
                inputs.push_back(
                    {{"tensor_constant", {{"arg", argument}, {"tensor_constant_name", input->target}}}});
                break;
            }
        }
        Json outputs = Json::array();
        for (ValueId output : m_graph.outputs)
            outputs.push_back({{"user_output", {{"arg", tensorArgument(output)}}}});
        return {{"input_specs", std::move(inputs)}, {"output_specs", std::move(outputs)}};
    }

    /// How the program is called: positional tensors in, one tensor or a tuple out.
    Json callJson() const {
        if (m_envelope.contains("call"))
            return m_envelope["call"];
        const Json leaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}};
        const auto tuple = [](Json children) {
            return Json{
                {"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", std::move(children)}};
        };
        Json arguments = Json::array();
        Json names = Json::array();
        for (const Input* input : m_inputs)
            if (input->kind == Input::Kind::user) {
                arguments.push_back(leaf);
                names.push_back(input->target);
            }
        const Json keywords = {
            {"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", Json::array()}};
        const Json in = {1, tuple({tuple(arguments), keywords})};
        Json results = Json::array();
        for (std::size_t i = 0; i < m_graph.outputs.size(); ++i)
            results.push_back(leaf);
        const Json out = {1, m_graph.outputs.size() == 1 ? leaf : tuple(results)};
        return {{"fqn", ""},
                {"signature",
                 {{"inputs", Json::array()},
                  {"outputs", Json::array()},
                  {"in_spec", in.dump()},
                  {"out_spec", out.dump()},
                  {"forward_arg_names", names}}}};
    }

    Json rangesJson() const {
        Json ranges = Json::object();
        const Json known = m_envelope.value("range_constraints", Json::object());
        for (const auto& [symbol, example] : m_sizes.examples())
            ranges[symbol] = known.value(symbol, Json{{"min_val", 1}, {"max_val", nullptr}});
        return ranges;
    }

    Json programJson(Json graph) const {
        Json module = {{"graph", std::move(graph)},
                       {"signature", signatureJson()},
                       {"module_call_graph", Json::array({callJson()})},
                       {"metadata", Json::object()},
                       {"treespec_namedtuple_fields", Json::object()}};
        return {{"graph_module", std::move(module)},
                {"opset_version", m_envelope.value("opset_version", Json{{"aten", 10}})},
                {"range_constraints", rangesJson()},
                {"schema_version", {{"major", kSchemaMajor}, {"minor", kSchemaMinor}}},
                {"verifiers", m_envelope.value("verifiers", Json::array({"ATEN"}))},
                {"torch_version", m_envelope.value("torch_version", kTorchVersion)},
                {"guards_code", m_envelope.value("guards_code", Json::array())}};
    }

    const Graph& m_graph;
    const Json& m_envelope;
    std::vector<const Input*> m_inputs;
    std::vector<std::string> m_names;
    SizeWriter m_sizes;
    std::string m_problem;
};

} // namespace

std::vector<const Input*> keptInputs(const Graph& graph) {
    const Users users(graph);
    std::vector<const Input*> kept;
    for (const Input& input : graph.inputs)
        if (input.kind == Input::Kind::user || !users.of(input.value).empty())
            kept.push_back(&input);
    const auto rank = [](Input::Kind kind) {
        return kind == Input::Kind::parameter  ? 0
               : kind == Input::Kind::buffer   ? 1
               : kind == Input::Kind::constant ? 2
                                               : 3;
    };
    std::stable_sort(kept.begin(), kept.end(),
                     [&](const Input* a, const Input* b) { return rank(a->kind) < rank(b->kind); });
    return kept;
}

Json storedMeta(const TensorMeta& meta) {
    return contiguousMeta(meta, [](const SymInt& size) -> Json { return {{"as_int", size.constant()}}; });
}

bool isPersistent(const Json& envelope, const std::string& buffer) {
    const auto names = envelope.find("persistent_buffers");
    return names != envelope.end() && std::find(names->begin(), names->end(), buffer) != names->end();
}

Json parseEnvelope(const std::string& envelope) {
    Json json = envelope.empty() ? Json::object() : Json::parse(envelope, nullptr, false);
    return json.is_object() ? json : Json::object();
}

Result<Json> describeProgram(const Graph& graph, const std::string& envelope) {
    const Json parsed = parseEnvelope(envelope);
    return ProgramWriter(graph, parsed).run();
}

} // namespace workbench::pt2
