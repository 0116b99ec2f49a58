#pragma once

#include "core/graph/graph.h"

#include <map>
#include <string>
#include <string_view>

namespace workbench {

/// Short names for a graph's symbols: the token count "s27" is "T", the rows of logits "R"; others keep
/// theirs.
class SymbolNames {
public:
    explicit SymbolNames(const Graph& graph);
    std::string text(const SymInt& size) const;
    /// "bf16[1, T, 576]"
    std::string text(const TensorMeta& meta) const;
    const std::map<std::string, std::string, std::less<>>& names() const { return m_names; }

private:
    std::map<std::string, std::string, std::less<>> m_names;
};

/// "linear" for "aten.linear.default", "attention" for "workbench.attention".
std::string_view shortOp(std::string_view op);

/// "7.1 MiB", "576 B"
std::string bytesText(double bytes);

} // namespace workbench
