#include "app/diagram/type_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace workbench {
namespace {

constexpr std::array<const char*, 2> kSymbolNames = {"T", "R"};

bool isWordCharacter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

} // namespace

/// Symbols in the order of the inputs: tokens come first, the rows that need logits after them. With more
/// symbols than that, a short name would say something that nobody knows.
SymbolNames::SymbolNames(const Graph& graph) {
    std::vector<std::string> symbols;
    for (const Input& input : graph.inputs)
        for (const SymInt& size : graph.value(input.value).meta.shape)
            for (const std::string& symbol : size.symbols())
                if (input.kind == Input::Kind::user &&
                    std::find(symbols.begin(), symbols.end(), symbol) == symbols.end())
                    symbols.push_back(symbol);
    if (symbols.size() > kSymbolNames.size())
        return;
    for (std::size_t i = 0; i < symbols.size(); ++i)
        m_names.emplace(symbols[i], kSymbolNames[i]);
}

std::string SymbolNames::text(const SymInt& size) const {
    if (size.isConstant())
        return std::to_string(size.constant());
    const std::string spelled = size.text();
    std::string text;
    for (std::size_t i = 0; i < spelled.size();) {
        std::size_t end = i;
        while (end < spelled.size() && isWordCharacter(spelled[end]))
            ++end;
        end = std::max(end, i + 1);
        const std::string word = spelled.substr(i, end - i);
        const auto name = m_names.find(word);
        text += name == m_names.end() ? word : name->second;
        i = end;
    }
    return text;
}

std::string SymbolNames::text(const TensorMeta& meta) const {
    std::string sizes;
    for (const SymInt& size : meta.shape)
        sizes += (sizes.empty() ? "" : ", ") + text(size);
    return std::string(name(meta.dtype)) + "[" + sizes + "]";
}

std::string_view shortOp(std::string_view op) {
    const std::size_t space = op.find('.');
    if (space == std::string_view::npos)
        return op;
    op.remove_prefix(space + 1);
    return op.substr(0, op.find('.'));
}

std::string bytesText(double bytes) {
    constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < units.size(); ++unit)
        bytes /= 1024;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 || bytes >= 99.5 ? "%.0f %s" : "%.1f %s", bytes,
                  units[unit]);
    return text.data();
}

} // namespace workbench
