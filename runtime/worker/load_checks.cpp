#include "runtime/worker/load_checks.h"

#include "core/graph/scalar_type.h"
#include "runtime/worker/devices.h"

namespace workbench {

Status checkMemory(const WeightStore& store, const Graph& graph, c10::Device device) {
    const std::int64_t bytes = store.missingBytes(graph);
    const auto available = availableBytes(device);
    if (!available || bytes <= *available)
        return Ok{};
    const auto gigabytes = [](std::int64_t count) {
        const std::string digits = std::to_string(count / 100'000'000);
        return (digits.size() > 1 ? digits.substr(0, digits.size() - 1) : "0") + "." + digits.back() + " GB";
    };
    return Error{
        ErrorCode::runtimeFailed,
        "The weights need " + gigabytes(bytes) + " of memory, but only " + gigabytes(*available) +
            " are available" +
            (device.is_cpu()
                 ? std::string(": use a smaller dtype, weights in fewer bits (--weights int8 or int4), or "
                               "a worker on a larger machine.")
                 : " on " + device.str() + ": use a smaller dtype, or a larger GPU."),
        {}};
}

Status checkPlacement(const Placement& placement, ops::WeightFormat format) {
    if (placement.direct || format == ops::WeightFormat::stored)
        return Ok{};
    return Error{ErrorCode::badInput,
                 "Weights in fewer bits are made for the CPU alone: leave out --weights " +
                     std::string(ops::nameOf(format)) + ", or --device.",
                 {}};
}

Status checkFormat(ops::WeightFormat format, const ProductWeights& weights) {
    if (format == ops::WeightFormat::stored || weights.quantised.matrices > 0)
        return Ok{};
    const std::string name(ops::nameOf(format));
    return Error{ErrorCode::badInput,
                 "No weight of this model becomes " + name + ": the " +
                     std::to_string(weights.stored.matrices + weights.precise.matrices) +
                     " matrices that its products read stay as they are stored, so leave out --weights " +
                     name + ".",
                 name};
}

Status checkDtype(const Json& weights, const Graph& graph) {
    const auto text = optional<std::string>(weights, "dtype", "");
    if (!text)
        return text.error();
    if (text->empty())
        return Ok{};
    const auto dtype = scalarTypeFromName(*text);
    if (!dtype)
        return Error{
            ErrorCode::badInput, "The request's weights have the unknown dtype '" + *text + "'.", {}};
    bool floating = false;
    for (const Input& input : graph.inputs) {
        const ScalarType actual = graph.value(input.value).meta.dtype;
        if (input.kind == Input::Kind::parameter && actual == *dtype)
            return Ok{};
        floating = floating || (input.kind == Input::Kind::parameter && isFloatingPoint(actual));
    }
    if (!floating)
        return Ok{};
    return Error{ErrorCode::badInput,
                 "No parameter of the graph is " + *text +
                     ", the dtype that was asked for: trace the model with that dtype.",
                 {}};
}

} // namespace workbench
