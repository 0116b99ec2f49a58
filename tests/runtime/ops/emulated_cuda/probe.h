// Kernels that try the emulated device (probe.cu).
#pragma once

#include "tests/runtime/ops/emulated_cuda/emulator.h"

#include <vector>

namespace workbench::emulated_cuda::probe {

enum class Barriers { Both, BeforeReading, BeforeWriting, None };

/// Each of `rounds` times, thread i of a block takes what thread i ^ 1 had: an even number gives the input
/// again. `threads` floats; Barriers: which of the two that a round needs are there.
std::vector<float> swapNeighbours(const std::vector<float>& input, int rounds, Barriers barriers);

/// How often each thread of each block ran, in the order of the linear indices.
std::vector<int> countThreads(Sizes grid, Sizes block);

/// For each block the thread that ran first.
std::vector<unsigned> firstThreads(unsigned blocks, unsigned threads);

struct Reductions {
    long long least = 0;
    long long largest = 0;
    bool any = false;  // vote of the thread that found `needle`
    bool none = false; // vote of nobody
};
Reductions reduce(const std::vector<long long>& values, long long needle);

/// Each thread's value after an exchange with the lane whose number differs by `offset`.
std::vector<double> exchange(unsigned threads, int offset, unsigned mask = 0xffffffffu);

/// max(nan, 1), max(1, nan), min(nan, 1), min(1, nan).
std::vector<float> compareWithNan();

// What a GPU refuses or hangs on.
void useDynamicBytes(size_t bytes, size_t allowed); // allowed 0: without asking
void useStaticAndDynamicBytes(size_t dynamicBytes);
void waitAtTwoBarriers();
void waitForAThreadThatEnded();
void exchangeInTwoPlaces();

} // namespace workbench::emulated_cuda::probe
