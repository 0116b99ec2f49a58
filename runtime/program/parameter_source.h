#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "runtime/ops/packed_weight.h"

#include <ATen/core/Tensor.h>

#include <optional>

namespace workbench {

/// Where a program gets the tensors of its parameters, buffers and constants from.
class ParameterSource {
public:
    virtual ~ParameterSource() = default;
    /// The tensor for a graph's input of any kind but user, of the dtype and shape that `meta` states. It may
    /// be shared with other programs: nobody writes to it.
    virtual Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) = 0;
    /// The same for a matrix [rows, columns] of float32 or bfloat16 that only products read. A source that
    /// keeps no packed weights makes one of the tensor.
    virtual Result<ops::PackedWeight> fetchPacked(const Input& input, const TensorMeta& meta);
    /// The same, from a source that makes fewer bits of others: with the numbers that fetch() gives.
    virtual Result<ops::PackedWeight> fetchPackedAsStored(const Input& input, const TensorMeta& meta);
    /// The packed weight, where fetching it would take no memory: it is there for a tied parameter.
    virtual std::optional<ops::PackedWeight> findPacked(const Input& input, const TensorMeta& meta);
};

} // namespace workbench
