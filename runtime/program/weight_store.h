#pragma once

#include "runtime/program/parameter_source.h"
#include "runtime/program/weight_files.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// How a parameter is made of the tensors of a checkpoint: one of them, or parts joined along a dimension,
/// which may be joined ones.
struct ParameterOrigin {
    enum class Op { tensor, cat, stack, unsupported };
    Op op = Op::tensor;
    std::string tensor;                             ///< name in the checkpoint, for Op::tensor
    std::vector<ParameterOrigin> parts;             ///< for cat and stack
    std::int64_t dim = 0;                           ///< of cat and stack
    std::optional<std::vector<std::int64_t>> shape; ///< of the parameter, where known
};

/// Where weights come from. Buffers and constants come from the archive before the checkpoint.
struct WeightSpec {
    std::filesystem::path directory; ///< with safetensors; empty: none
    std::filesystem::path archive;   ///< the traced .pt2; empty: none
    std::map<std::string, ParameterOrigin, std::less<>>
        origins; ///< by parameter; a parameter that is not here has its own name in the files
    std::optional<std::uint64_t> seed;                    ///< random parameters instead of the checkpoint's
    ops::WeightFormat format = ops::WeightFormat::stored; ///< of packed weights; all others are as stored
};

/// The tensors of one model, read on demand and shared by all programs that fetch them.
class WeightStore : public ParameterSource {
public:
    static Result<std::shared_ptr<WeightStore>> open(WeightSpec spec);

    /// Errors name the parameter and the file.
    Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) override;
    /// One packed weight for each matrix of the checkpoint, quantised while it is packed if the spec says so:
    /// parameters that are merged by rows are lists of those of their parts.
    Result<ops::PackedWeight> fetchPacked(const Input& input, const TensorMeta& meta) override;
    std::optional<ops::PackedWeight> findPacked(const Input& input, const TensorMeta& meta) override;
    /// Bytes that fetching all inputs of `graph` would add.
    std::int64_t missingBytes(const Graph& graph) const;

private:
    explicit WeightStore(WeightSpec spec) : m_spec(std::move(spec)) {}

    Result<at::Tensor> make(const Input& input, const TensorMeta& meta);
    Result<at::Tensor> stored(const std::string& name, ScalarType dtype,
                              const std::vector<std::int64_t>* shape);
    Result<at::Tensor> derived(const DerivedParameter& from, ScalarType dtype);
    Result<at::Tensor> parameter(const std::string& name, ScalarType dtype,
                                 const std::vector<std::int64_t>* shape);
    Result<at::Tensor> assemble(const std::string& name, const ParameterOrigin& origin, ScalarType dtype);
    Result<ops::PackedWeight> packed(const Input& input, const TensorMeta& meta);
    Result<ops::PackedWeight> packedParameter(const std::string& name, ScalarType dtype,
                                              const std::vector<std::int64_t>* shape);
    Result<ops::PackedWeight> packedOrigin(const std::string& name, const ParameterOrigin& origin,
                                           ScalarType dtype, const std::vector<std::int64_t>* shape);
    Result<ops::PackedWeight> packedExperts(const std::string& name, const ParameterOrigin& origin,
                                            ScalarType dtype, const std::vector<std::int64_t>& shape);
    Result<ops::PackedWeight> packedTensor(const std::string& name, const at::Tensor& tensor) const;
    bool isKnown(const std::string& key) const { return m_tensors.contains(key) || m_packed.contains(key); }
    Result<at::Tensor> random(const std::string& name, ScalarType dtype,
                              const std::vector<std::int64_t>* shape);
    static Error otherShape(const Input& input, at::IntArrayRef stored, at::IntArrayRef wanted);
    Result<at::Tensor> notFound(const std::string& name) const;
    std::string keyOf(const std::string& name, ScalarType dtype) const;
    const ParameterOrigin* originOf(const std::string& name) const;

    WeightSpec m_spec;
    std::optional<CheckpointFiles> m_checkpoint;
    std::optional<ArchiveFile> m_archive;
    std::map<std::string, at::Tensor, std::less<>> m_tensors;
    std::map<std::string, ops::PackedWeight, std::less<>> m_packed; ///< by the same keys
    std::map<std::string, std::vector<std::int64_t>, std::less<>>
        m_shapes; ///< of the parameters that were asked for
};

} // namespace workbench
