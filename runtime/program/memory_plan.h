#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

/// A piece of memory that is in use from step `first` to step `last`, both included.
struct Lifetime {
    std::int64_t bytes = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
};

struct MemoryPlan {
    std::vector<std::int64_t> offsets; ///< bytes, parallel to the lifetimes
    std::int64_t bytes = 0;            ///< of the whole
};

/// Places in one block of memory, so that no two pieces that are in use at the same step overlap. Offsets are
/// multiples of `alignment` bytes. Greedy by size (Pisarchyk and Lee 2020, arXiv:2001.03288, algorithm 3):
/// the largest piece first, each at the smallest gap between its contemporaries that holds it.
MemoryPlan planMemory(std::span<const Lifetime> lifetimes, std::int64_t alignment);

} // namespace workbench
