#pragma once

#include "app/session/job.h"
#include "app/session/traced_model.h"
#include "core/archive/pt2_reader.h"
#include "core/archive/safetensors.h"

#include <functional>
#include <optional>
#include <span>
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
    /// The stored data of a parameter, buffer or constant piece by piece, in its stored type; parts of a
    /// merged one come one after the other, whatever their order in it. Little memory, however large it is.
    using Piece = std::function<void(ScalarType, std::span<const std::byte>)>;
    Status eachPiece(const std::string& name, const Job& job, const Piece& piece) const;
    const Pt2Archive& archive() const { return m_archive; }

private:
    ParameterData() = default;
    /// The name itself, or that of a tied parameter that has the data.
    std::string storedName(const std::string& name) const;
    Result<TensorBytes> named(const std::string& parameter) const;
    Result<TensorBytes> fromRecipe(const nlohmann::json& recipe) const;
    Result<TensorBytes> fromCheckpoint(const std::string& tensor) const;
    Error noTensor(const std::string& tensor) const;
    Status eachPieceOfRecipe(const nlohmann::json& recipe, const Job& job, const Piece& piece) const;
    Status eachPieceOfTensor(const std::string& tensor, const Job& job, const Piece& piece) const;

    const TracedModel* m_model = nullptr;
    Pt2Archive m_archive;
    std::optional<SafetensorsIndex> m_checkpoint;
};

} // namespace workbench
