#pragma once

#include "core/graph/scalar_type.h"
#include "core/support/result.h"
#include "runtime/ops/packed_weight.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>

/// Tensors out of the two kinds of files that hold weights, as they are stored there.

namespace workbench {

class SafetensorsIndex;
struct Pt2Archive;

/// The safetensors of a model directory, sharded or not.
class CheckpointFiles {
public:
    static Result<CheckpointFiles> open(const std::filesystem::path& directory);
    bool has(const std::string& tensor) const;
    Result<at::Tensor> read(const std::string& tensor) const;
    /// Whether the tensor is a matrix, of a dtype of which readPacked() makes this type.
    bool canReadPacked(const std::string& tensor, ops::WeightType type) const;
    /// Reads a matrix straight into panels, a few megabytes at a time. An Error names a tensor with values
    /// that the format cannot have.
    Result<ops::PackedWeight> readPacked(const std::string& tensor, ops::WeightType type) const;

private:
    std::shared_ptr<const SafetensorsIndex> m_index;
};

/// Why a tensor has no weights in fewer bits.
Error cannotQuantise(const std::string& tensor);

/// Parameters, buffers and constants in a .pt2 archive.
class ArchiveFile {
public:
    static Result<ArchiveFile> open(const std::filesystem::path& file);
    bool has(const std::string& name) const;
    Result<at::Tensor> read(const std::string& name) const;

private:
    std::shared_ptr<const Pt2Archive> m_archive;
};

} // namespace workbench
