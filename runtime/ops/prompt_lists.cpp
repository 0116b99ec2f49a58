#include "runtime/ops/prompt_lists.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

namespace workbench::ops {

void PromptLists::add(c10::ArrayRef<int64_t> tokens, KeyRange keys, const int32_t* blocks,
                      int64_t blockTokens) {
    m_tokens.insert(m_tokens.end(), tokens.begin(), tokens.end());
    for (int64_t position = keys.begin; position < keys.end; ++position) {
        m_keyBlocks.push_back(blocks[position / blockTokens]);
        m_keySlots.push_back(position % blockTokens);
    }
    m_queryEnds.push_back(static_cast<int32_t>(m_tokens.size()));
    m_keyEnds.push_back(static_cast<int32_t>(m_keyBlocks.size()));
    m_mostQueries = std::max(m_mostQueries, static_cast<int64_t>(tokens.size()));
    m_mostKeys = std::max(m_mostKeys, keys.end - keys.begin);
}

PromptTables PromptLists::on(c10::Device device) const {
    return {onDevice(m_tokens, device),
            onDevice(m_queryEnds, device),
            onDevice(m_keyBlocks, device),
            onDevice(m_keySlots, device),
            onDevice(m_keyEnds, device),
            m_mostQueries,
            m_mostKeys};
}

at::Tensor onDevice(c10::ArrayRef<int64_t> values, c10::Device device) {
    return at::tensor(values, at::TensorOptions(device).dtype(at::kLong));
}

at::Tensor onDevice(c10::ArrayRef<int32_t> values, c10::Device device) {
    return at::tensor(values, at::TensorOptions(device).dtype(at::kInt));
}

} // namespace workbench::ops
