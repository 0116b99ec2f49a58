#include "core/graph/line_reader.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"

#include <charconv>
#include <unordered_map>

namespace workbench {
namespace {

/// Every function that reads something returns false after fail(); the first failure is kept.
class Parser : private LineReader {
public:
    explicit Parser(std::string_view text) : m_text(text) {}

    Result<Graph> run() {
        for (std::size_t begin = 0; begin < m_text.size() && !hasFailed();) {
            const std::size_t end = std::min(m_text.find('\n', begin), m_text.size());
            startLine(m_text.substr(begin, end - begin));
            parseLine();
            begin = end + 1;
        }
        if (!hasFailed() && !m_hasOutput)
            fail("an 'output' line");
        if (hasFailed())
            return Error{ErrorCode::badInput, "The graph text is malformed: " + failure(), {}};
        const Status verified = verify(m_graph);
        if (!verified)
            return verified.error();
        return std::move(m_graph);
    }

private:
    // Lines

    bool parseLine() {
        const char first = peek();
        if (first == '\0' || first == '#')
            return true;
        if (m_hasOutput)
            return fail("nothing after the 'output' line");
        return (first == '%' ? parseNode() : parseStatement()) && parseEnd();
    }

    bool parseEnd() { return peek() == '\0' || peek() == '#' || fail("the end of the line"); }

    bool parseStatement() {
        const std::size_t before = m_position;
        const std::string_view keyword = word();
        if (keyword == "module")
            return parseModule();
        if (keyword == "output")
            return parseOutput();
        if (keyword == "input")
            return parseInput(Input::Kind::user);
        if (keyword == "parameter")
            return parseInput(Input::Kind::parameter);
        if (keyword == "buffer")
            return parseInput(Input::Kind::buffer);
        if (keyword == "constant")
            return parseInput(Input::Kind::constant);
        m_position = before;
        if (m_line.find('(') == std::string_view::npos)
            return fail("a statement (module, input, parameter, buffer, constant, output or a node)");
        return parseCall({});
    }

    bool parseModule() {
        ModuleInfo module;
        if (!quoted(module.path))
            return false;
        if (peek() != '\0' && peek() != '#' && !wordOrQuoted(module.className, "a class name"))
            return false;
        moduleIndex(std::move(module));
        return true;
    }

    bool parseOutput() {
        m_hasOutput = true;
        if (peek() == '\0')
            return true;
        do {
            ValueId id = kNone;
            if (!reference(id))
                return false;
            m_graph.outputs.push_back(id);
        } while (accept(','));
        return true;
    }

    bool parseInput(Input::Kind kind) {
        std::string name;
        TensorMeta meta;
        if (!definition(name, meta))
            return false;
        std::string target = name;
        if (peek() != '"' && kind != Input::Kind::user)
            return fail("the quoted name of the stored tensor");
        if (peek() == '"' && !quoted(target))
            return false;
        define(m_graph.addInput(kind, std::move(name), std::move(meta), std::move(target)));
        return !accept('=') || parseDerived(m_graph.inputs.back());
    }

    bool parseDerived(Input& input) {
        DerivedParameter derived;
        if (!acceptWord("cat"))
            return fail("'cat(dim, \"source\", ...)'");
        if (!expect('(') || !number(derived.dim, "a dimension"))
            return false;
        while (accept(',')) {
            std::string source;
            if (!quoted(source))
                return false;
            derived.sources.push_back(std::move(source));
        }
        input.derived = std::move(derived);
        return expect(')');
    }

    bool parseNode() {
        std::vector<std::pair<std::string, TensorMeta>> outputs;
        do {
            auto& [name, meta] = outputs.emplace_back();
            if (!definition(name, meta))
                return false;
        } while (accept(','));
        return expect('=') && parseCall(std::move(outputs));
    }

    bool parseCall(std::vector<std::pair<std::string, TensorMeta>> outputs) {
        std::string op(word());
        if (op.empty())
            return fail("an operator");
        std::vector<Argument> arguments;
        if (!expect('('))
            return false;
        if (!accept(')')) {
            do {
                Argument& argument = arguments.emplace_back();
                argument.name = word();
                if (argument.name.empty())
                    return fail("an argument's name");
                if (!expect('=') || !parseValue(argument.value))
                    return false;
            } while (accept(','));
            if (!expect(')'))
                return false;
        }
        std::int32_t module = kNone;
        std::int32_t source = kNone;
        if (!parseLocation(module, source))
            return false;
        const NodeId id =
            m_graph.addNode(std::move(op), std::move(arguments), std::move(outputs), module, source);
        for (ValueId output : m_graph.node(id).outputs)
            define(output);
        return true;
    }

    bool parseLocation(std::int32_t& module, std::int32_t& source) {
        if (accept('@')) {
            std::string path;
            if (!quoted(path))
                return false;
            module = moduleIndex(ModuleInfo{std::move(path), {}});
        }
        skipSpaces();
        const std::size_t begin = m_position;
        if (!acceptWord("from"))
            return true;
        SourceFrame frame;
        if (!quoted(frame.file) || !expect(':') || !number(frame.line, "a line number") ||
            !wordOrQuoted(frame.function, "a function's name"))
            return false;
        const auto [known, isNew] =
            m_sourceIndex.try_emplace(std::string(m_line.substr(begin, m_position - begin)),
                                      static_cast<std::int32_t>(m_graph.sources.size()));
        if (isNew)
            m_graph.sources.push_back({std::move(frame)});
        source = known->second;
        return true;
    }

    // Names

    std::int32_t moduleIndex(ModuleInfo module) {
        const auto known = m_moduleIndex.find(module.path);
        if (known != m_moduleIndex.end() && module.className.empty())
            return known->second;
        std::string path = module.path;
        const std::int32_t index = m_graph.addModule(std::move(module));
        m_moduleIndex.emplace(std::move(path), index);
        return index;
    }

    void define(ValueId id) { m_names.try_emplace(m_graph.value(id).name, id); }

    /// %name: f32[1, s0]
    bool definition(std::string& name, TensorMeta& meta) {
        if (!expect('%') || !wordOrQuoted(name, "a value's name") || !expect(':'))
            return false;
        const std::size_t before = m_position;
        const std::optional<ScalarType> type = scalarTypeFromName(word());
        if (!type) {
            m_position = before;
            return fail("an element type such as f32 or bf16");
        }
        meta.dtype = *type;
        if (!expect('['))
            return false;
        if (accept(']'))
            return true;
        do {
            SymInt size;
            if (!parseSize(size))
                return false;
            meta.shape.push_back(std::move(size));
        } while (accept(','));
        return expect(']');
    }

    bool reference(ValueId& id) {
        std::string name;
        if (!expect('%'))
            return false;
        const std::size_t before = m_position;
        if (!wordOrQuoted(name, "a value's name"))
            return false;
        const auto known = m_names.find(name);
        if (known == m_names.end()) {
            m_position = before;
            return fail("a value that is defined above");
        }
        id = known->second;
        return true;
    }

    // Values

    /// The text up to the ',', ')' or ']' that ends a bare value; brackets of calls inside are skipped.
    std::string_view bareToken() {
        skipSpaces();
        const std::size_t begin = m_position;
        int depth = 0;
        for (; m_position < m_line.size(); ++m_position) {
            const char c = m_line[m_position];
            if (depth == 0 && (c == ',' || c == ')' || c == ']'))
                break;
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        }
        std::string_view token = m_line.substr(begin, m_position - begin);
        while (!token.empty() && token.back() == ' ')
            token.remove_suffix(1);
        return token;
    }

    bool parseSize(SymInt& size) {
        skipSpaces();
        const std::size_t before = m_position;
        const std::string_view token = bareToken();
        Result<SymInt> parsed = SymInt::parse(token);
        if (!parsed) {
            m_position = before;
            return fail("a size such as 64, s0 or 2*s0 + 1");
        }
        size = std::move(*parsed);
        return true;
    }

    bool parseValue(ArgumentValue& value) {
        const char first = peek();
        if (first == '%') {
            ValueRef held;
            const bool ok = expect('%') && (--m_position, reference(held.id));
            value = held;
            return ok;
        }
        if (first == '"') {
            std::string held;
            const bool ok = quoted(held);
            value = std::move(held);
            return ok;
        }
        if (first == '[')
            return parseList(value);
        const std::size_t before = m_position;
        if (bareValue(bareToken(), value))
            return true;
        m_position = before;
        return fail("a value");
    }

    static bool bareValue(std::string_view token, ArgumentValue& value) {
        if (token == "none")
            value = None{};
        else if (token == "true" || token == "false")
            value = token == "true";
        else if (token.substr(0, 6) == "dtype:")
            return dtypeValue(token.substr(6), value);
        else if (token.substr(0, 7) == "layout:")
            value = Keyword{Keyword::Kind::layout, std::string(token.substr(7))};
        else if (token.substr(0, 7) == "device:")
            value = Keyword{Keyword::Kind::device, std::string(token.substr(7))};
        else if (token.substr(0, 14) == "memory_format:")
            value = Keyword{Keyword::Kind::memoryFormat, std::string(token.substr(14))};
        else
            return numberValue(token, value);
        return true;
    }

    static bool dtypeValue(std::string_view name, ArgumentValue& value) {
        const std::optional<ScalarType> type = scalarTypeFromName(name);
        if (type)
            value = *type;
        return type.has_value();
    }

    static bool numberValue(std::string_view token, ArgumentValue& value) {
        double real = 0;
        const char* end = token.data() + token.size();
        const bool looksReal = token.find_first_of(".en") != std::string_view::npos;
        if (looksReal) {
            const auto [stop, status] = std::from_chars(token.data(), end, real);
            if (stop == end && !token.empty() && status == std::errc()) {
                value = real;
                return true;
            }
        }
        Result<SymInt> size = SymInt::parse(token);
        if (!size)
            return false;
        value = std::move(*size);
        return true;
    }

    bool parseList(ArgumentValue& value) {
        std::vector<ArgumentValue> elements;
        if (!expect('['))
            return false;
        const std::size_t begin = m_position;
        if (!accept(']')) {
            do {
                if (peek() == '[')
                    return fail("a value that is not a list");
                if (!parseValue(elements.emplace_back()))
                    return false;
            } while (accept(','));
            if (!expect(']'))
                return false;
        }
        if (gatherReferences(elements, value) || gather<SymInt>(elements, value) ||
            gather<double>(elements, value) || gather<bool>(elements, value))
            return true;
        m_position = begin;
        return fail("a list of values, integers, floats or booleans of one kind");
    }

    static bool gatherReferences(const std::vector<ArgumentValue>& elements, ArgumentValue& value) {
        std::vector<ValueRef> list;
        for (const ArgumentValue& element : elements) {
            if (const auto* held = std::get_if<ValueRef>(&element))
                list.push_back(*held);
            else if (std::holds_alternative<None>(element))
                list.push_back(ValueRef{});
            else
                return false;
        }
        if (list.empty())
            return false;
        value = std::move(list);
        return true;
    }

    template <typename Element>
    static bool gather(std::vector<ArgumentValue>& elements, ArgumentValue& value) {
        std::vector<Element> list;
        for (ArgumentValue& element : elements) {
            if (auto* held = std::get_if<Element>(&element))
                list.push_back(std::move(*held));
            else
                return false;
        }
        value = std::move(list);
        return true;
    }

    std::string_view m_text;
    bool m_hasOutput = false;
    Graph m_graph;
    std::unordered_map<std::string, ValueId> m_names;
    std::unordered_map<std::string, std::int32_t> m_moduleIndex;
    std::unordered_map<std::string, std::int32_t> m_sourceIndex;
};

} // namespace

Result<Graph> parseGraph(std::string_view text) {
    return Parser(text).run();
}

} // namespace workbench
