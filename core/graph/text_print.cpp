#include "core/graph/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace workbench {
namespace {

bool isWord(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.';
    });
}

class Printer {
public:
    Printer(const Graph& graph, const PrintOptions& options) : m_graph(graph), m_options(options) {}

    std::string run() {
        m_text.reserve(m_graph.nodes.size() * 160 + m_graph.inputs.size() * 80 + 256);
        if (m_options.locations)
            for (const ModuleInfo& module : m_graph.modules)
                printModule(module);
        for (const Input& input : m_graph.inputs)
            printInput(input);
        for (const Node& node : m_graph.nodes)
            printNode(node);
        m_text += "output";
        for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) {
            m_text += i == 0 ? " " : ", ";
            printName(m_graph.outputs[i]);
        }
        m_text += '\n';
        return std::move(m_text);
    }

    std::string runValue(const ArgumentValue& value) {
        printValue(value);
        return std::move(m_text);
    }

private:
    void printQuoted(std::string_view text) {
        constexpr char kHex[] = "0123456789abcdef";
        m_text += '"';
        for (char c : text) {
            if (c == '"' || c == '\\') {
                m_text += '\\';
                m_text += c;
            } else if (c == '\n') {
                m_text += "\\n";
            } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                m_text += "\\x";
                m_text += kHex[static_cast<unsigned char>(c) >> 4];
                m_text += kHex[static_cast<unsigned char>(c) & 15];
            } else {
                m_text += c;
            }
        }
        m_text += '"';
    }

    void printWord(std::string_view word) {
        if (isWord(word))
            m_text += word;
        else
            printQuoted(word);
    }

    void printInteger(std::int64_t value) {
        char buffer[24];
        const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
        m_text.append(buffer, end);
    }

    void printDouble(double value) {
        if (std::isnan(value)) {
            m_text += "nan";
            return;
        }
        char buffer[40];
        const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
        const std::string_view digits(buffer, static_cast<std::size_t>(end - buffer));
        m_text += digits;
        if (digits.find_first_of(".einf") == std::string_view::npos)
            m_text += ".0";
    }

    void printSize(const SymInt& size) {
        if (size.isConstant())
            printInteger(size.constant());
        else
            m_text += size.text();
    }

    template <typename Range, typename PrintOne>
    void printList(const Range& range, PrintOne printOne) {
        m_text += '[';
        bool first = true;
        for (const auto& element : range) {
            if (!first)
                m_text += ", ";
            first = false;
            printOne(element);
        }
        m_text += ']';
    }

    void printName(ValueId id) {
        m_text += '%';
        printWord(m_graph.value(id).name);
    }

    void printReference(const ValueRef& reference) {
        if (reference.id == kNone)
            m_text += "none";
        else
            printName(reference.id);
    }

    void printDefinition(ValueId id) {
        printName(id);
        m_text += ": ";
        m_text += print(m_graph.value(id).meta);
    }

    void printModule(const ModuleInfo& module) {
        m_text += "module ";
        printQuoted(module.path);
        if (!module.className.empty()) {
            m_text += ' ';
            printWord(module.className);
        }
        m_text += '\n';
    }

    void printInput(const Input& input) {
        switch (input.kind) {
        case Input::Kind::user:
            m_text += "input ";
            break;
        case Input::Kind::parameter:
            m_text += "parameter ";
            break;
        case Input::Kind::buffer:
            m_text += "buffer ";
            break;
        case Input::Kind::constant:
            m_text += "constant ";
            break;
        }
        printDefinition(input.value);
        if (input.kind != Input::Kind::user || input.target != m_graph.value(input.value).name) {
            m_text += ' ';
            printQuoted(input.target);
        }
        if (input.derived) {
            m_text += " = cat(";
            printInteger(input.derived->dim);
            for (const std::string& source : input.derived->sources) {
                m_text += ", ";
                printQuoted(source);
            }
            m_text += ')';
        }
        m_text += '\n';
    }

    void printValue(const ArgumentValue& value) {
        std::visit([this](const auto& held) { printHeld(held); }, value);
    }
    void printHeld(const None&) { m_text += "none"; }
    void printHeld(bool held) { m_text += held ? "true" : "false"; }
    void printHeld(const SymInt& held) { printSize(held); }
    void printHeld(double held) { printDouble(held); }
    void printHeld(const std::string& held) { printQuoted(held); }
    void printHeld(ScalarType held) {
        m_text += "dtype:";
        m_text += name(held);
    }
    void printHeld(const Keyword& held) {
        m_text += held.kind == Keyword::Kind::layout   ? "layout:"
                  : held.kind == Keyword::Kind::device ? "device:"
                                                       : "memory_format:";
        m_text += held.name;
    }
    void printHeld(const ValueRef& held) { printReference(held); }
    void printHeld(const std::vector<ValueRef>& held) {
        printList(held, [this](const ValueRef& reference) { printReference(reference); });
    }
    void printHeld(const std::vector<SymInt>& held) {
        printList(held, [this](const SymInt& size) { printSize(size); });
    }
    void printHeld(const std::vector<double>& held) {
        printList(held, [this](double element) { printDouble(element); });
    }
    void printHeld(const std::vector<bool>& held) {
        printList(held, [this](bool element) { m_text += element ? "true" : "false"; });
    }

    void printNode(const Node& node) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (i != 0)
                m_text += ", ";
            printDefinition(node.outputs[i]);
        }
        if (!node.outputs.empty())
            m_text += " = ";
        m_text += node.op;
        m_text += '(';
        for (std::size_t i = 0; i < node.arguments.size(); ++i) {
            if (i != 0)
                m_text += ", ";
            m_text += node.arguments[i].name;
            m_text += '=';
            printValue(node.arguments[i].value);
        }
        m_text += ')';
        if (m_options.locations)
            printLocation(node);
        m_text += '\n';
    }

    void printLocation(const Node& node) {
        if (node.module != kNone) {
            m_text += " @";
            printQuoted(m_graph.modules[static_cast<std::size_t>(node.module)].path);
        }
        if (node.source == kNone || m_graph.sources[static_cast<std::size_t>(node.source)].empty())
            return;
        const SourceFrame& frame = m_graph.sources[static_cast<std::size_t>(node.source)].back();
        m_text += " from ";
        printQuoted(frame.file);
        m_text += ':';
        printInteger(frame.line);
        m_text += ' ';
        printWord(frame.function);
    }

    const Graph& m_graph;
    const PrintOptions m_options;
    std::string m_text;
};

} // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
    return Printer(graph, options).run();
}

std::string print(const ArgumentValue& value, const Graph& graph) {
    return Printer(graph, {}).runValue(value);
}

std::string print(const TensorMeta& meta) {
    std::string text = std::string(name(meta.dtype)) + "[";
    for (std::size_t i = 0; i < meta.shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + meta.shape[i].text();
    return text + "]";
}

} // namespace workbench
