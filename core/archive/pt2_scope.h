#pragma once

#include "core/graph/graph.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

/// What names mean inside one (sub)graph of a torch.export program: tensors, symbolic scalars and the
/// metadata of both.

namespace workbench::pt2 {

using Json = nlohmann::json;

/// The first thing that makes an archive unusable, with the node it was met at.
struct Fault {
    std::string text;
    std::string where;
    explicit operator bool() const { return !text.empty(); }
};

/// Sizes as SymInts. Each distinct expression is parsed once.
class SizeReader {
public:
    /// Symbols that an input's shape defines; others depend on data.
    std::set<std::string, std::less<>> boundSymbols;

    /// {"as_int": 3} or {"as_expr": {"expr_str": "..."}}. nullopt with `problem` set when it cannot be used.
    std::optional<SymInt> read(const Json& size, std::string& problem);

private:
    std::unordered_map<std::string, SymInt> m_known;
};

/// One graph's tables. JSON type errors throw nlohmann's exceptions: the archive reader catches them at its
/// edge.
class Scope {
public:
    Scope(const Json& graph, SizeReader& sizes) : m_graph(&graph), m_sizes(&sizes) {}

    const Json& json() const { return *m_graph; }

    void bindTensor(const std::string& name, ValueId id) { m_tensors[name] = id; }
    void bindScalar(const std::string& name, SymInt value) { m_scalars[name] = std::move(value); }

    /// nullopt when nothing made the tensor (yet).
    std::optional<ValueId> tensor(const std::string& name) const;
    std::optional<SymInt> scalar(const std::string& name, std::string& problem);
    std::optional<TensorMeta> meta(const std::string& name, std::string& problem);

private:
    const Json* m_graph;
    SizeReader* m_sizes;
    std::unordered_map<std::string, ValueId> m_tensors;
    std::unordered_map<std::string, SymInt> m_scalars;
};

} // namespace workbench::pt2
