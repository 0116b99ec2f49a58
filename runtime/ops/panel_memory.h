// Memory for packed weights: large pieces in pages of 2 MB where the system has them, because a product that
// reads megabytes misses the address cache on every page of 4 KB.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace workbench::ops {

/// Weights are cut out of common pieces, so that small ones do not take a large page each. A piece goes back
/// to the system when nothing in it is used any more.
class PanelMemory {
public:
    static PanelMemory& shared();

    /// `bytes` of memory, aligned to 64; a null byte count gives a valid pointer too. Throws std::bad_alloc.
    std::shared_ptr<void> allocate(size_t bytes);

private:
    std::mutex m_mutex;
    std::weak_ptr<std::byte> m_piece; // the last one; alive while a weight in it is
    size_t m_used = 0;
    size_t m_size = 0;
};

} // namespace workbench::ops
