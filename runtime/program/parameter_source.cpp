#include "runtime/program/parameter_source.h"

#include "runtime/program/torch_edge.h"

namespace workbench {

Result<ops::PackedWeight> ParameterSource::fetchPacked(const Input& input, const TensorMeta& meta) {
    auto tensor = fetch(input, meta);
    if (!tensor)
        return tensor.error();
    return guarded("Packing " + input.target,
                   [&]() -> Result<ops::PackedWeight> { return ops::PackedWeight::of(*tensor); });
}

Result<ops::PackedWeight> ParameterSource::fetchPackedAsStored(const Input& input, const TensorMeta& meta) {
    return fetchPacked(input, meta);
}

std::optional<ops::PackedWeight> ParameterSource::findPacked(const Input&, const TensorMeta&) {
    return std::nullopt;
}

} // namespace workbench
