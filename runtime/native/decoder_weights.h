#pragma once

#include "core/graph/scalar_type.h"
#include "runtime/native/decoder_config.h"
#include "runtime/ops/packed_weight.h"
#include "runtime/program/parameter_source.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace workbench::native {

struct LayerWeights {
    at::Tensor attentionNorm;         // [hidden]
    at::Tensor feedForwardNorm;       // [hidden]
    at::Tensor queryNorm;             // [head width], or undefined
    at::Tensor keyNorm;               //
    ops::PackedWeight queryKeyValue;  // [merged width, hidden]
    ops::PackedWeight attentionOut;   // [hidden, query width]
    ops::PackedWeight gateUp;         // [2 * intermediate, hidden]
    ops::PackedWeight feedForwardOut; // [hidden, intermediate]
};

struct DecoderWeights {
    at::Tensor embedding;                             // [vocabulary, hidden]; undefined where it is packed
    std::optional<ops::PackedWeight> packedEmbedding; // tied to the head
    std::vector<LayerWeights> layers;
    at::Tensor norm;        // [hidden]
    ops::PackedWeight head; // [vocabulary, hidden]
};

/// Fetches the weights, which other programs then share. `names`: the model's parameters; where
/// lm_head.weight is none of them, the embedding is the head.
Result<DecoderWeights> decoderWeights(const DecoderConfig& config, ScalarType dtype,
                                      const std::set<std::string>& names, ParameterSource& source);

} // namespace workbench::native
