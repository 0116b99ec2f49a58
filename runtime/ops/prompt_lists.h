// The tables of prompts as they grow on the host.
#pragma once

#include "runtime/ops/attention_tables.h"

#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <vector>

namespace workbench::ops {

class PromptLists {
public:
    /// A sequence: where its tokens are in the call, the positions of the keys that they see, and its blocks
    /// as in PagedTables.
    void add(c10::ArrayRef<int64_t> tokens, KeyRange keys, const int32_t* blocks, int64_t blockTokens);

    bool empty() const { return m_tokens.empty(); }
    PromptTables on(c10::Device device) const;

private:
    std::vector<int64_t> m_tokens, m_keyBlocks, m_keySlots;
    std::vector<int32_t> m_queryEnds{0}, m_keyEnds{0};
    int64_t m_mostQueries = 0, m_mostKeys = 0;
};

/// A list of the host as a tensor of the device; waits until it is there.
at::Tensor onDevice(c10::ArrayRef<int64_t> values, c10::Device device);
at::Tensor onDevice(c10::ArrayRef<int32_t> values, c10::Device device);

} // namespace workbench::ops
