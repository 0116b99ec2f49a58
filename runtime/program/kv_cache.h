#pragma once

#include "runtime/ops/attention.h"

#include <cstdint>
#include <vector>

namespace workbench {

/// Sizes of the keys and values that one attention node stores for each token.
struct AttentionShape {
    std::int64_t kvHeads = 0;
    std::int64_t width = 0;      ///< of a key
    std::int64_t valueWidth = 0; ///< of a value
    at::ScalarType dtype = at::ScalarType::Float;
    std::int64_t window = 0; ///< tokens that a query sees at most, itself included; 0: all before it
};

/// Bytes of one token's key and value of all heads.
inline std::int64_t tokenBytes(const AttentionShape& shape) {
    return shape.kvHeads * (shape.width + shape.valueWidth) *
           static_cast<std::int64_t>(c10::elementSize(shape.dtype));
}

/// Keys and values of one sequence, for every attention node of a program (two nodes never share, even with
/// the same layer number).
class KvCache {
public:
    /// Allocates room for `capacity` tokens; throws as LibTorch does when there is no memory.
    KvCache(const std::vector<AttentionShape>& shapes, std::int64_t capacity);

    ops::KvCacheView& layer(std::int32_t index) { return m_layers[static_cast<std::size_t>(index)]; }
    std::int64_t capacity() const { return m_capacity; }
    /// Tokens that every layer holds; a run that was cancelled half-way leaves some layers with more.
    std::int64_t length() const;

private:
    std::vector<ops::KvCacheView> m_layers;
    std::int64_t m_capacity = 0;
};

} // namespace workbench
