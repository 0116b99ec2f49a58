#include "core/archive/pt2_scope.h"

#include "core/archive/pt2_schema.h"

#include <algorithm>

namespace workbench::pt2 {
namespace {

/// Far above any real tensor, and low enough that sums and products of a few sizes do not overflow.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 48;

} // namespace

std::optional<SymInt> SizeReader::read(const Json& size, std::string& problem) {
    if (const auto constant = size.find("as_int"); constant != size.end())
        return SymInt(constant->get<std::int64_t>());
    const std::string& text = size.at("as_expr").at("expr_str").get_ref<const std::string&>();
    if (const auto known = m_known.find(text); known != m_known.end())
        return known->second;
    Result<SymInt> parsed = SymInt::parse(text);
    if (!parsed) {
        problem = parsed.error().message;
        return std::nullopt;
    }
    for (const std::string& symbol : parsed->symbols())
        if (boundSymbols.count(symbol) == 0) {
            problem =
                "the size '" + parsed->text() + "' depends on data (no input's shape gives '" + symbol + "')";
            return std::nullopt;
        }
    m_known.emplace(text, *parsed);
    return std::move(*parsed);
}

std::optional<ValueId> Scope::tensor(const std::string& name) const {
    const auto found = m_tensors.find(name);
    return found == m_tensors.end() ? std::nullopt : std::optional<ValueId>(found->second);
}

std::optional<SymInt> Scope::scalar(const std::string& name, std::string& problem) {
    if (const auto known = m_scalars.find(name); known != m_scalars.end())
        return known->second;
    const Json& values = m_graph->at("sym_int_values");
    const auto found = values.find(name);
    if (found == values.end()) {
        problem = "the symbolic number '" + name + "' has no expression";
        return std::nullopt;
    }
    std::optional<SymInt> value = m_sizes->read(*found, problem);
    if (value)
        m_scalars.emplace(name, *value);
    return value;
}

std::optional<TensorMeta> Scope::meta(const std::string& name, std::string& problem) {
    const Json& values = m_graph->at("tensor_values");
    const auto found = values.find(name);
    if (found == values.end()) {
        problem = "the tensor '" + name + "' has no type and shape";
        return std::nullopt;
    }
    TensorMeta meta;
    const auto code = found->at("dtype").get<std::int64_t>();
    const std::optional<ScalarType> dtype = scalarType(code);
    if (!dtype) {
        problem = "the tensor '" + name + "' has the unsupported element type " + scalarTypeText(code);
        return std::nullopt;
    }
    if (const auto layout = layoutName(found->at("layout").get<std::int64_t>()); layout != "strided") {
        problem = "the tensor '" + name + "' is not strided (layout " +
                  std::string(layout.value_or("unknown")) + ")";
        return std::nullopt;
    }
    meta.dtype = *dtype;
    for (const Json& size : found->at("sizes")) {
        std::optional<SymInt> read = m_sizes->read(size, problem);
        if (!read)
            return std::nullopt;
        if (read->isConstant() && (read->constant() < 0 || read->constant() > kMaxSize)) {
            problem = "the tensor '" + name + "' has the impossible size " + read->text();
            return std::nullopt;
        }
        meta.shape.push_back(std::move(*read));
    }
    return meta;
}

} // namespace workbench::pt2
