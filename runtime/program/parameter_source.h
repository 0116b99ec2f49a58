#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <ATen/core/Tensor.h>

namespace workbench {

/// Where a program gets the tensors of its parameters, buffers and constants from.
class ParameterSource {
public:
    virtual ~ParameterSource() = default;
    /// The tensor for a graph's input of any kind but user, of the dtype and shape that `meta` states. It may
    /// be shared with other programs: nobody writes to it.
    virtual Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) = 0;
};

} // namespace workbench
