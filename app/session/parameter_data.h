#pragma once

#include "app/session/traced_model.h"
#include "core/archive/pt2_reader.h"
#include "core/archive/safetensors.h"

#include <optional>
#include <string>

namespace workbench {

/// A tensor's bytes, contiguous in row-major order.
struct TensorBytes {
    ScalarType dtype = ScalarType::f32;
    std::vector<std::int64_t> shape;
    std::string bytes;
};

/// Concatenation along `dim`; all parts have one dtype and equal sizes elsewhere (badInput otherwise).
Result<TensorBytes> concatenate(const std::vector<TensorBytes>& parts, std::int64_t dim);
/// f32, bf16 and f16 become f32 or bf16 (rounded to the nearest, ties to even); other conversions are
/// badInput.
Result<TensorBytes> convert(TensorBytes tensor, ScalarType dtype);

/// The data of a model's stored inputs: from its checkpoint by the tracer's map, else from its archive.
class ParameterData {
public:
    static Result<ParameterData> open(const TracedModel& model);

    /// In the graph's dtype and shape; derived parameters are made of their sources. The error names the
    /// parameter.
    Result<std::string> of(const Input& input, const TensorMeta& meta) const;
    const Pt2Archive& archive() const { return m_archive; }

private:
    ParameterData() = default;
    Result<TensorBytes> named(const std::string& name) const;
    Result<TensorBytes> fromRecipe(const nlohmann::json& recipe) const;
    Result<TensorBytes> fromCheckpoint(const std::string& tensor) const;

    const TracedModel* m_model = nullptr;
    Pt2Archive m_archive;
    std::optional<SafetensorsIndex> m_checkpoint;
};

} // namespace workbench
