#include "core/archive/pt2_sizes.h"

#include "core/graph/sym_parser.h"

namespace workbench::pt2 {

using Json = nlohmann::json;

namespace {

/// The Domain of SymParser that spells expressions in sympy's constructors, as torch does.
class ConstructorDomain {
public:
    using Value = std::string;
    std::string error;

    std::optional<Value> integer(std::int64_t value) const {
        return "Integer(" + std::to_string(value) + ")";
    }
    std::optional<Value> symbol(const std::string& name) const {
        return "Symbol('" + name + "', positive=True, integer=True)";
    }
    std::optional<Value> add(const Value& a, const Value& b) const { return join("Add", a, b); }
    std::optional<Value> subtract(const Value& a, const Value& b) const {
        return join("Add", a, *join("Mul", "Integer(-1)", b));
    }
    std::optional<Value> multiply(const Value& a, const Value& b) const { return join("Mul", a, b); }
    std::optional<Value> floorDivide(const Value& a, const Value& b) const { return join("FloorDiv", a, b); }
    std::optional<Value> modulo(const Value& a, const Value& b) const { return join("PythonMod", a, b); }
    std::optional<Value> power(const Value& a, const Value& b) const { return join("Pow", a, b); }
    std::optional<Value> call(std::string_view function, const std::vector<Value>& values) const {
        std::string text = std::string(function) + "(";
        for (std::size_t i = 0; i < values.size(); ++i)
            text += (i == 0 ? "" : ", ") + values[i];
        return text + ")";
    }

private:
    static std::optional<Value> join(const char* function, const Value& a, const Value& b) {
        return std::string(function) + "(" + a + ", " + b + ")";
    }
};

} // namespace

/// The Domain of SymParser that makes nodes.
class NodeDomain {
public:
    /// A constant, or a node's name with its expression.
    struct Value {
        SymInt expression;
        std::string node;
        Json argument() const {
            return {{"as_sym_int",
                     node.empty() ? Json{{"as_int", expression.constant()}} : Json{{"as_name", node}}}};
        }
    };
    std::string error;

    explicit NodeDomain(SizeWriter& writer) : m_writer(writer) {}

    std::optional<Value> integer(std::int64_t value) const { return Value{SymInt(value), {}}; }

    std::optional<Value> symbol(const std::string& name) {
        const auto origin = m_writer.m_origins.find(name);
        if (origin == m_writer.m_origins.end()) {
            error = "no input has the size '" + name + "'";
            return std::nullopt;
        }
        const Json inputs = {
            {{"name", "self"}, {"arg", {{"as_tensor", {{"name", origin->second.input}}}}}, {"kind", 1}},
            {{"name", "dim"}, {"arg", {{"as_int", origin->second.dim}}}, {"kind", 1}}};
        const SymInt value = SymInt::symbol(name);
        return Value{value, node("torch.ops.aten.sym_size.int", inputs, value, "sym_size_int")};
    }

    std::optional<Value> add(const Value& a, const Value& b) {
        return combine("_operator.add", "sym_add", a, b, a.expression + b.expression);
    }
    std::optional<Value> subtract(const Value& a, const Value& b) {
        return combine("_operator.sub", "sym_sub", a, b, a.expression - b.expression);
    }
    std::optional<Value> multiply(const Value& a, const Value& b) {
        return combine("_operator.mul", "sym_mul", a, b, a.expression * b.expression);
    }
    std::optional<Value> floorDivide(const Value& a, const Value& b) {
        return combine("_operator.floordiv", "sym_floordiv", a, b,
                       opaque("(" + a.expression.text() + ")//(" + b.expression.text() + ")"));
    }
    std::optional<Value> modulo(const Value& a, const Value& b) {
        return combine("_operator.mod", "sym_mod", a, b,
                       opaque("(" + a.expression.text() + ")%(" + b.expression.text() + ")"));
    }
    std::optional<Value> power(const Value& a, const Value& b) {
        std::optional<Value> result = integer(1);
        for (std::int64_t i = 0; b.expression.isConstant() && i < b.expression.constant(); ++i)
            result = i == 0 ? a : multiply(*result, a);
        return result;
    }
    std::optional<Value> call(std::string_view function, const std::vector<Value>& values) {
        Value result = values.front();
        for (std::size_t i = 1; i < values.size(); ++i) {
            const SymInt value = opaque(std::string(function) + "(" + result.expression.text() + ", " +
                                        values[i].expression.text() + ")");
            const bool isMax = function == "Max";
            result = *combine(isMax ? "torch.sym_max" : "torch.sym_min", isMax ? "sym_max" : "sym_min",
                              result, values[i], value);
        }
        return result;
    }

private:
    /// Parts of a canonical expression are well-formed.
    static SymInt opaque(const std::string& text) { return SymInt::parse(text).value(); }

    std::optional<Value> combine(const char* target, const char* baseName, const Value& a, const Value& b,
                                 const SymInt& value) {
        if (value.isConstant())
            return Value{value, {}};
        const Json inputs = {{{"name", "a"}, {"arg", a.argument()}, {"kind", 1}},
                             {{"name", "b"}, {"arg", b.argument()}, {"kind", 1}}};
        return Value{value, node(target, inputs, value, baseName)};
    }

    std::string node(const char* target, const Json& inputs, const SymInt& value, const char* baseName) {
        const auto known = m_writer.m_nodeOf.find(value.text());
        return known != m_writer.m_nodeOf.end() ? known->second
                                                : m_writer.addNode(target, inputs, value, baseName);
    }

    SizeWriter& m_writer;
};

namespace {

/// Calls visit(symbol, input value, dimension) for each size of an input that is a symbol alone.
template <typename Visitor>
void forEachSymbol(const Graph& graph, Visitor visit) {
    for (const Input& input : graph.inputs) {
        const Value& value = graph.value(input.value);
        for (std::size_t dim = 0; dim < value.meta.shape.size(); ++dim) {
            const SymInt& size = value.meta.shape[dim];
            if (!size.isConstant() && size.symbols() == std::vector<std::string>{size.text()})
                visit(size.text(), value, static_cast<std::int64_t>(dim));
        }
    }
}

} // namespace

SymbolBindings exampleSizes(const Graph& graph) {
    SymbolBindings examples;
    std::int64_t next = 7;
    forEachSymbol(graph, [&](const std::string& symbol, const Value&, std::int64_t) {
        if (examples.try_emplace(symbol, next).second)
            next += 2;
    });
    return examples;
}

SizeWriter::SizeWriter(const Graph& graph, std::unordered_set<std::string> taken)
    : m_examples(exampleSizes(graph)), m_taken(std::move(taken)) {
    forEachSymbol(graph, [&](const std::string& symbol, const Value& value, std::int64_t dim) {
        m_origins.try_emplace(symbol, Origin{value.name, dim});
    });
}

void SizeWriter::fail(std::string problem) {
    if (m_problem.empty())
        m_problem = std::move(problem);
}

Json SizeWriter::expression(const SymInt& size) {
    const std::string text = size.text();
    if (const auto known = m_expressions.find(text); known != m_expressions.end())
        return known->second;
    ConstructorDomain domain;
    const Result<std::string> spelled = SymParser<ConstructorDomain>(text, domain).parse();
    const Result<std::int64_t> example = size.evaluate(m_examples);
    if (!spelled || !example) {
        fail(spelled ? example.error().message : spelled.error().message);
        return {};
    }
    Json result = {{"expr_str", *spelled}, {"hint", {{"as_int", *example}}}};
    m_expressions.emplace(text, result);
    return result;
}

Json SizeWriter::size(const SymInt& size) {
    return size.isConstant() ? Json{{"as_int", size.constant()}} : Json{{"as_expr", expression(size)}};
}

Json SizeWriter::operand(const SymInt& size) {
    if (size.isConstant())
        return {{"as_int", size.constant()}};
    const std::string text = size.text();
    const auto known = m_nodeOf.find(text);
    if (known != m_nodeOf.end())
        return {{"as_name", known->second}};
    NodeDomain domain(*this);
    const Result<NodeDomain::Value> made = SymParser<NodeDomain>(text, domain).parse();
    if (!made) {
        fail(made.error().message);
        return {};
    }
    return {{"as_name", made->node}};
}

std::string SizeWriter::addNode(const char* target, Json inputs, const SymInt& value, const char* baseName) {
    std::string name = baseName;
    for (int i = 1; !m_taken.insert(name).second; ++i)
        name = std::string(baseName) + "_" + std::to_string(i);
    nodes.push_back({{"target", target},
                     {"inputs", std::move(inputs)},
                     {"outputs", {{{"as_sym_int", {{"as_name", name}}}}}},
                     {"metadata", Json::object()},
                     {"name", name}});
    values[name] = size(value);
    m_nodeOf.emplace(value.text(), name);
    return name;
}

} // namespace workbench::pt2
