#include "runtime/ops/panel_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace workbench::ops {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kPiece = size_t{64} << 20;

size_t roundedUp(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// `size` bytes (a multiple of kLargePage) that begin at a large page. Pages that nobody writes to cost
/// nothing.
std::shared_ptr<std::byte> mapPiece(size_t size) {
    const size_t mapped = size + kLargePage;
    void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        throw std::bad_alloc();
    auto* aligned = reinterpret_cast<std::byte*>(roundedUp(reinterpret_cast<uintptr_t>(start), kLargePage));
    ::madvise(aligned, size, MADV_HUGEPAGE); // a kernel without them says so and gives small ones
    return {aligned, [start, mapped](std::byte*) { ::munmap(start, mapped); }};
}

} // namespace

PanelMemory& PanelMemory::shared() {
    static PanelMemory memory;
    return memory;
}

std::shared_ptr<void> PanelMemory::allocate(size_t bytes) {
    const size_t size = roundedUp(std::max<size_t>(bytes, 1), 64);
    const std::scoped_lock lock(m_mutex);
    std::shared_ptr<std::byte> piece = m_piece.lock();
    if (!piece || m_size - m_used < size) {
        m_size = roundedUp(std::max(size, kPiece), kLargePage);
        piece = mapPiece(m_size);
        m_piece = piece;
        m_used = 0;
    }
    std::byte* place = piece.get() + m_used;
    m_used += size;
    return {std::move(piece), place};
}

} // namespace workbench::ops
