#include "app/diagram/diagram_builder.h"
#include "core/graph/text.h"

namespace workbench {
namespace {

constexpr std::size_t kLongestText = 40;

bool isTensor(const ArgumentValue& value) {
    return std::holds_alternative<ValueRef>(value) || std::holds_alternative<std::vector<ValueRef>>(value) ||
           std::holds_alternative<None>(value);
}

/// Layouts, devices and memory formats say nothing about the mathematics.
bool isSetting(const Argument& argument) {
    return !isTensor(argument.value) && !std::holds_alternative<Keyword>(argument.value);
}

std::string textOf(const ArgumentValue& value, const Graph& graph, const SymbolNames& names) {
    if (const auto* type = std::get_if<ScalarType>(&value))
        return std::string(name(*type));
    if (const auto* size = std::get_if<SymInt>(&value))
        return names.text(*size);
    if (const auto* sizes = std::get_if<std::vector<SymInt>>(&value)) {
        std::string text;
        for (const SymInt& size : *sizes)
            text += (text.empty() ? "" : ", ") + names.text(size);
        return "[" + text + "]";
    }
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    return print(value, graph);
}

} // namespace

std::vector<std::string> settingsOf(const Node& node, const Graph& graph, const SymbolNames& names) {
    std::vector<std::string> settings;
    for (const Argument& argument : node.arguments) {
        if (!isSetting(argument))
            continue;
        std::string text = argument.name + " " + textOf(argument.value, graph, names);
        if (text.size() > kLongestText)
            text = text.substr(0, kLongestText - 1) + "…";
        settings.push_back(std::move(text));
    }
    return settings;
}

} // namespace workbench
