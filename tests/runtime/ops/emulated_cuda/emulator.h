// A CUDA device on the host's CPU, for tests: it runs a kernel's blocks one after the other and each thread
// of a block on a stack of its own.
//
// What it models: the indices and sizes of grids and blocks and CUDA's limits on them, __syncthreads and
// __syncthreads_or, shuffles of whole warps, static and dynamic shared memory with its limits, atomics on
// integers, max and min as CUDA has them (of a NaN and a number, the number). Shared memory begins in each
// block as what is a NaN in any type and, as an integer, far out of any range. The order in which blocks and
// threads run changes from barrier to barrier, but is the same in each run of the program: a thread runs up
// to its next barrier or shuffle before another one does, so that most missing barriers show as stale or NaN
// values.
//
// What it does not: the memory model (every write is seen at once, also without a barrier or an atomic, by
// whoever runs later), threads of a warp that part without a shuffle after it, bank conflicts, registers,
// speed, textures, streams (a launch returns when the kernel has ended), launches from several host threads.
// Reads past an end and misaligned words show under the sanitizers (preset asan), as on any CPU.
//
// What a GPU would refuse or hang on ends the program with one sentence: sizes and shared memory past the
// limits, threads that wait at different barriers or end while others wait, shuffles of a part of a warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace workbench::emulated_cuda {

struct Sizes {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

struct Launch {
    const char* name = nullptr;   // of the kernel
    const void* kernel = nullptr; // its address
    Sizes grid;
    Sizes block;
    size_t dynamicBytes = 0;
};

/// A line of a kernel.
struct Site {
    const char* file = nullptr;
    int line = 0;
};

constexpr int kWarp = 32;
constexpr size_t kMostValueBytes = 8; // of a shuffle

/// Calls `thread` for each thread of the grid.
void run(const Launch& launch, const std::function<void()>& thread);

/// Launches since the program began.
int64_t launches();

/// From now on the kernel may have so much dynamic shared memory.
void allowDynamicBytes(const void* kernel, size_t bytes);

// What follows is called by the threads of a kernel.

/// __syncthreads_or.
bool barrier(Site site, bool vote);

/// __shfl_xor_sync: what the lane gives whose number differs by `flip`. Good until the thread's next
/// exchange.
const void* exchange(Site site, unsigned mask, const void* value, size_t bytes, unsigned flip);

void* dynamicShared();

/// A number that no other block of any launch has.
int64_t blockNumber();

/// Static shared memory that the block now begins to use: counts its bytes, and fills it.
void claimStatic(void* memory, size_t bytes);

} // namespace workbench::emulated_cuda
