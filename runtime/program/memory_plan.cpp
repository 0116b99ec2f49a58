#include "runtime/program/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace workbench {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) {
    return a.first <= b.last && b.first <= a.last;
}

std::int64_t roundUp(std::int64_t bytes, std::int64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

struct Placed {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t piece = 0;
};

/// The smallest gap of at least `bytes` between the contemporaries of `piece`, or the end of the last.
/// `placed` by ascending begin.
std::int64_t offsetFor(const Lifetime& piece, std::int64_t bytes, const std::vector<Placed>& placed,
                       std::span<const Lifetime> lifetimes) {
    std::int64_t end = 0;
    std::int64_t best = -1;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (const Placed& other : placed) {
        if (!meet(piece, lifetimes[other.piece]))
            continue;
        const std::int64_t gap = other.begin - end;
        if (gap >= bytes && gap < smallest) {
            best = end;
            smallest = gap;
        }
        end = std::max(end, other.end);
    }
    return best >= 0 ? best : end;
}

} // namespace

MemoryPlan planMemory(std::span<const Lifetime> lifetimes, std::int64_t alignment) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
    MemoryPlan plan;
    plan.offsets.resize(lifetimes.size());
    std::vector<Placed> placed;
    placed.reserve(lifetimes.size());
    for (const std::size_t piece : order) {
        const std::int64_t bytes = roundUp(lifetimes[piece].bytes, alignment);
        const std::int64_t begin = offsetFor(lifetimes[piece], bytes, placed, lifetimes);
        const Placed here{begin, begin + bytes, piece};
        placed.insert(std::upper_bound(placed.begin(), placed.end(), here,
                                       [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                      here);
        plan.offsets[piece] = begin;
        plan.bytes = std::max(plan.bytes, here.end);
    }
    return plan;
}

} // namespace workbench
