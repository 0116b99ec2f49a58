#pragma once

#include "runtime/program/parameter_source.h"
#include "runtime/program/weight_files.h"
#include "runtime/program/weight_use.h"

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
    c10::Device device{c10::kCPU};                        ///< of tensors; packed weights are the CPU's
};

/// The matrices that products of a graph read, each tensor of the checkpoint once.
struct ProductWeights {
    struct Count {
        std::int64_t matrices = 0; ///< experts that are stacked are one
        std::int64_t bytes = 0;    ///< of memory
    };
    Count quantised; ///< in the format that the store packs in
    Count stored;    ///< as stored: read in a form, by an op or of a dtype that is not quantised
    Count precise;   ///< as stored on purpose, see WeightUses::keepsPrecision
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
    Result<ops::PackedWeight> fetchPackedAsStored(const Input& input, const TensorMeta& meta) override;
    std::optional<ops::PackedWeight> findPacked(const Input& input, const TensorMeta& meta) override;
    ops::WeightFormat format() const { return m_spec.format; }
    /// Bytes that fetching all inputs of `graph` would add.
    std::int64_t missingBytes(const Graph& graph) const;
    /// What fetching them makes of the matrices that its products read.
    ProductWeights productWeights(const Graph& graph) const;

private:
    /// What products of `dtype` read.
    struct PackedAs {
        ScalarType dtype;
        ops::WeightFormat format;
        ops::WeightType type() const;
        /// Of the numbers that are packed: fewer bits are made of those of the checkpoint, not of rounded
        /// ones.
        std::optional<ScalarType> source() const;
    };

    explicit WeightStore(WeightSpec spec) : m_spec(std::move(spec)) {}

    Result<at::Tensor> make(const Input& input, const TensorMeta& meta);
    Result<at::Tensor> placed(Result<at::Tensor> tensor) const;
    Result<at::Tensor> stored(const std::string& name, ScalarType dtype,
                              const std::vector<std::int64_t>* shape);
    Result<at::Tensor> derived(const DerivedParameter& from, ScalarType dtype);
    /// Without a dtype: in the one that it is stored in, or float32 where it is random.
    Result<at::Tensor> parameter(const std::string& name, std::optional<ScalarType> dtype,
                                 const std::vector<std::int64_t>* shape);
    Result<at::Tensor> assemble(const std::string& name, const ParameterOrigin& origin,
                                std::optional<ScalarType> dtype);
    Result<ops::PackedWeight> fetchPackedAs(const Input& input, const TensorMeta& meta,
                                            ops::WeightFormat format);
    Result<ops::PackedWeight> packed(const Input& input, PackedAs as, const std::vector<std::int64_t>& shape);
    Result<ops::PackedWeight> packedParameter(const std::string& name, PackedAs as,
                                              const std::vector<std::int64_t>* shape);
    Result<ops::PackedWeight> packedOrigin(const std::string& name, const ParameterOrigin& origin,
                                           PackedAs as, const std::vector<std::int64_t>* shape);
    Result<ops::PackedWeight> packedExperts(const std::string& name, const ParameterOrigin& origin,
                                            PackedAs as, const std::vector<std::int64_t>& shape);
    static Result<ops::PackedWeight> packedTensor(const std::string& name, const at::Tensor& tensor,
                                                  PackedAs as);
    Result<at::Tensor> random(const std::string& name, std::optional<ScalarType> dtype,
                              const std::vector<std::int64_t>* shape);
    static Error otherShape(const Input& input, at::IntArrayRef stored, at::IntArrayRef wanted);
    Result<at::Tensor> notFound(const std::string& name) const;
    /// `type`: a dtype, or a format in fewer bits, whose panels are the same for every dtype.
    std::string keyOf(const std::string& name, std::string_view type) const;
    std::string keyOf(const std::string& name, ScalarType dtype) const;
    std::string packedKey(const std::string& name, PackedAs as) const;
    static std::string derivedKey(const DerivedParameter& from, ScalarType dtype);
    std::int64_t missingBytesOf(const Input& input, const TensorMeta& meta, WeightForm form,
                                ops::WeightFormat format) const;
    const ParameterOrigin* originOf(const std::string& name) const;

    WeightSpec m_spec;
    std::optional<CheckpointFiles> m_checkpoint;
    std::optional<ArchiveFile> m_archive;
    std::map<std::string, at::Tensor, std::less<>> m_tensors;
    std::map<std::string, ops::PackedWeight, std::less<>> m_packed; ///< by packedKey()
    std::map<std::string, std::vector<std::int64_t>, std::less<>>
        m_shapes; ///< of the parameters that were asked for
};

} // namespace workbench
