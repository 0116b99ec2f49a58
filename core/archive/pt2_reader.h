#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "core/support/zip_reader.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Where an archive keeps a tensor: `sizes` elements of `dtype`, `strides` and `offset` in elements, in the
/// bytes of a member.
struct StoredTensor {
    std::string member;
    ScalarType dtype = ScalarType::f32;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    bool pickled = false; ///< never read: unpickling runs code
};

/// A torch.export archive. Tensor data stays in the file until it is asked for.
struct Pt2Archive {
    Graph graph;
    std::map<std::string, StoredTensor, std::less<>>
        tensors; ///< parameters, buffers and constants by name; may lack some
    std::int64_t schemaMajor = 0;
    std::int64_t schemaMinor = 0;
    std::string torchVersion;
    /// JSON of what the program says beside its graph (symbol ranges, guards, call signature): a rewritten
    /// program keeps it.
    std::string envelope;
    std::shared_ptr<const ZipReader> zip;

    /// The tensor's bytes, contiguous in row-major order. Errors name the tensor and the file.
    Result<std::string> readTensor(std::string_view name) const;
};

/// Reads an archive from an untrusted source; nothing in it is executed. Assertions are dropped while
/// reading, see pt2_graph.h. The error is one sentence that names the file and, where there is one, the node.
Result<Pt2Archive> readPt2(const std::filesystem::path& path);

} // namespace workbench
