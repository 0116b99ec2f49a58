#include "runtime/worker/weight_spec.h"

namespace workbench {
namespace {

using Op = ParameterOrigin::Op;

/// Deeper nesting than any conversion has; a request must not exhaust the stack.
constexpr int kMaxDepth = 16;

Error badEntry(const std::string& parameter, const std::string& problem) {
    return Error{ErrorCode::badInput, "The weight map's entry for " + parameter + " " + problem + ".",
                 parameter};
}

Result<Op> opFromName(const std::string& parameter, const std::string& name, std::size_t parts) {
    if (name == "unsupported")
        return Op::unsupported;
    if (name == "copy" ? parts != 1 : parts == 0)
        return badEntry(parameter, "joins " + std::to_string(parts) + " tensors by '" + name + "'");
    if (name == "copy")
        return Op::tensor;
    if (name == "cat")
        return Op::cat;
    if (name == "stack")
        return Op::stack;
    return badEntry(parameter, "has the unknown operation '" + name + "'");
}

Result<ParameterOrigin> originFromJson(const std::string& parameter, const Json& json, int depth) {
    if (!json.is_object() || depth > kMaxDepth)
        return badEntry(parameter, depth > kMaxDepth ? "is nested too deep" : "must be an object");
    if (json.contains("tensor")) {
        auto tensor = required<std::string>(json, "tensor");
        return tensor ? Result<ParameterOrigin>(ParameterOrigin{.tensor = std::move(*tensor)})
                      : tensor.error();
    }
    std::vector<ParameterOrigin> parts;
    for (const Json& from : json.value("from", Json::array())) {
        auto part = originFromJson(parameter, from, depth + 1);
        if (!part)
            return part;
        parts.push_back(std::move(*part));
    }
    const auto name = optional<std::string>(json, "op", "copy");
    const auto dim = optional<std::int64_t>(json, "dim", 0);
    const auto shape = optional<std::vector<std::int64_t>>(json, "shape", {});
    if (const Error* error = firstError(name, dim, shape))
        return *error;
    const auto op = opFromName(parameter, *name, parts.size());
    if (!op)
        return op.error();
    ParameterOrigin origin;
    if (*op == Op::tensor)
        origin = std::move(parts[0]); // a copy of one part is that part
    else
        origin = {.op = *op, .parts = std::move(parts), .dim = *dim};
    if (json.contains("shape"))
        origin.shape = *shape;
    return origin;
}

} // namespace

Result<WeightSpec> weightSpecFromJson(const Json& json) {
    const auto directory = optional<std::string>(json, "directory", "");
    const auto archive = optional<std::string>(json, "archive", "");
    const auto map = optional<Json>(json, "map", Json::object());
    const auto random = optional<Json>(json, "random", Json::object());
    const auto format = optional<std::string>(json, "format", "stored");
    if (const Error* error = firstError(directory, archive, map, random, format))
        return *error;
    const auto known = ops::weightFormatFromName(*format);
    if (!known)
        return Error{ErrorCode::badInput,
                     "The request's weights have the unknown format '" + *format +
                         "': there are stored, int8 and int4.",
                     *format};
    WeightSpec spec{
        .directory = *directory, .archive = *archive, .origins = {}, .seed = {}, .format = *known};
    if (!random->empty()) {
        auto seed = required<std::int64_t>(*random, "seed");
        if (!seed)
            return seed.error();
        spec.seed = static_cast<std::uint64_t>(*seed);
    }
    for (const auto& [parameter, entry] : map->items()) {
        auto origin = originFromJson(parameter, entry, 0);
        if (!origin)
            return origin.error();
        spec.origins.emplace(parameter, std::move(*origin));
    }
    return spec;
}

} // namespace workbench
