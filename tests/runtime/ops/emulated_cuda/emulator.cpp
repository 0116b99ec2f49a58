#include "tests/runtime/ops/emulated_cuda/emulator.h"

#include "tests/runtime/ops/emulated_cuda/device.h"
#include "tests/runtime/ops/emulated_cuda/fibre.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string_view>
#include <vector>

Indices threadIdx;
Indices blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace workbench::emulated_cuda {
namespace {

// CUDA C++ Programming Guide, Technical Specifications per Compute Capability.
constexpr unsigned kMostGridX = 0x7fffffff;
constexpr unsigned kMostGridYZ = 65535;
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostBlockZ = 64;
constexpr size_t kSharedBytes = 48 << 10;
/// On request, of the smallest architecture in runtime/cuda_defaults.cmake.
constexpr size_t kMostSharedBytes = 163 << 10;

struct Thread {
    explicit Thread(void (*body)()) : fibre(body) {}

    Fibre fibre;
    bool hasEnded = false;
    Site site; // where it waits
    unsigned exchanges = 0;
};

/// A warp's values of its last exchange and of the one before, which some lanes may not have read yet.
struct Warp {
    int waiting = 0;
    Site site; // where they wait
    alignas(kMostValueBytes) std::array<std::array<unsigned char, kMostValueBytes>, kWarp> values[2];
};

struct Aligned {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(16)); }
};

/// NaN as float16, bfloat16, float32 and float64; 2147483647 as int.
void poison(void* memory, size_t bytes) {
    auto* to = static_cast<unsigned char*>(memory);
    std::fill_n(to, bytes, static_cast<unsigned char>(0xff));
    for (size_t i = 3; i < bytes; i += 4)
        to[i] = 0x7f;
}

class Device {
public:
    void run(const Launch& launch, const std::function<void()>& thread);
    bool barrier(Site site, bool vote);
    const void* exchange(Site site, unsigned mask, const void* value, size_t bytes, unsigned flip);
    void claimStatic(void* memory, size_t bytes);
    [[noreturn]] void threadBody();

    void allowDynamicBytes(const void* kernel, size_t bytes) { m_allowed[kernel] = bytes; }
    void* dynamicShared() const { return m_dynamic.get(); }
    int64_t launches() const { return m_launches; }
    int64_t blocks() const { return m_blocks; }

private:
    void check(const Launch& launch) const;
    void runBlock();
    void makeReady(int first, int count);
    void runNext(Fibre& from);
    void checkSite(const char* what, Site a, Site b) const;
    [[noreturn]] void reportStuck() const;
    [[noreturn]] [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...) const;

    int64_t m_launches = 0;
    int64_t m_blocks = 0;
    std::map<const void*, size_t> m_allowed; // dynamic shared memory, by kernel
    Launch m_launch;
    const std::function<void()>* m_thread = nullptr;
    Fibre m_host;
    std::vector<std::unique_ptr<Thread>> m_threads; // at least the block's
    std::vector<Warp> m_warps;
    std::vector<int> m_ready; // threads that can go on, the next one last
    std::minstd_rand m_random;
    int m_count = 0; // threads of the block
    int m_current = 0;
    int m_ended = 0;
    int m_atBarrier = 0;
    Site m_barrier;
    unsigned m_barriers = 0;
    bool m_votes[2] = {false, false}; // of this barrier and of the one before
    size_t m_staticBytes = 0;
    std::unique_ptr<void, Aligned> m_dynamic;
};

Device device;

void Device::fail(const char* format, ...) const {
    std::fprintf(stderr, "emulated CUDA: %s, block (%u, %u, %u): ", m_launch.name, blockIdx.x, blockIdx.y,
                 blockIdx.z);
    va_list values;
    va_start(values, format);
    std::vfprintf(stderr, format, values);
    va_end(values);
    std::fputs(".\n", stderr);
    std::abort();
}

void Device::check(const Launch& launch) const {
    const auto& [name, kernel, grid, block, dynamicBytes] = launch;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMostGridX || grid.y > kMostGridYZ ||
        grid.z > kMostGridYZ)
        fail("a grid of %u x %u x %u blocks is not between 1 and %u x %u x %u", grid.x, grid.y, grid.z,
             kMostGridX, kMostGridYZ, kMostGridYZ);
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || block.x > kMostThreads || block.y > kMostThreads || block.z > kMostBlockZ ||
        threads > kMostThreads)
        fail("a block of %u x %u x %u threads is not between 1 and %u", block.x, block.y, block.z,
             kMostThreads);
    const auto allowed = m_allowed.find(kernel);
    const size_t most =
        allowed == m_allowed.end() ? kSharedBytes : std::min(allowed->second, kMostSharedBytes);
    if (dynamicBytes > most)
        fail("%zu bytes of dynamic shared memory are more than the %zu that the kernel may have",
             dynamicBytes, most);
}

/// Static and dynamic memory share what a kernel has without asking.
void Device::claimStatic(void* memory, size_t bytes) {
    m_staticBytes += bytes;
    const size_t most = m_allowed.contains(m_launch.kernel) ? kMostSharedBytes : kSharedBytes;
    if (m_staticBytes > kSharedBytes || m_staticBytes + m_launch.dynamicBytes > most)
        fail("%zu bytes of static and %zu of dynamic shared memory are more than a block's %zu, of which "
             "%zu may be static",
             m_staticBytes, m_launch.dynamicBytes, most, kSharedBytes);
    poison(memory, bytes);
}

void startThread() {
    device.threadBody();
}

void Device::run(const Launch& launch, const std::function<void()>& thread) {
    m_launch = launch;
    m_thread = &thread;
    blockIdx = {};
    check(launch);
    ++m_launches;
    gridDim = dim3(launch.grid.x, launch.grid.y, launch.grid.z);
    blockDim = dim3(launch.block.x, launch.block.y, launch.block.z);
    m_count = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
    while (std::ssize(m_threads) < m_count)
        m_threads.push_back(std::make_unique<Thread>(startThread));
    m_warps.resize(static_cast<size_t>(m_count + kWarp - 1) / kWarp);
    m_dynamic.reset(::operator new(launch.dynamicBytes, std::align_val_t(16)));
    const uint64_t blocks = uint64_t{gridDim.x} * gridDim.y * gridDim.z;
    const bool backwards = m_random() % 2 == 0;
    for (uint64_t i = 0; i < blocks; ++i) {
        const uint64_t block = backwards ? blocks - 1 - i : i;
        blockIdx = {static_cast<unsigned>(block % gridDim.x),
                    static_cast<unsigned>(block / gridDim.x % gridDim.y),
                    static_cast<unsigned>(block / gridDim.x / gridDim.y)};
        runBlock();
    }
}

void Device::runBlock() {
    ++m_blocks;
    m_staticBytes = 0;
    m_ended = m_atBarrier = 0;
    poison(m_dynamic.get(), m_launch.dynamicBytes);
    for (Warp& warp : m_warps)
        warp.waiting = 0;
    for (int i = 0; i < m_count; ++i)
        m_threads[static_cast<size_t>(i)]->hasEnded = false;
    makeReady(0, m_count);
    runNext(m_host);
    if (m_ended < m_count)
        reportStuck();
}

/// In a random direction from a random thread on.
void Device::makeReady(int first, int count) {
    const auto draw = static_cast<int>(m_random() >> 4);
    const int start = draw / 2 % count;
    for (int i = 0; i < count; ++i) {
        const int at = draw % 2 == 0 ? start + i : start - i + count;
        const int thread = first + (at < count ? at : at - count);
        m_ready.push_back(thread);
    }
}

/// Comes back when `from` can go on; on the host's stack, when no thread can.
void Device::runNext(Fibre& from) {
    if (m_ready.empty())
        return from.switchTo(m_host);
    m_current = m_ready.back();
    m_ready.pop_back();
    const auto index = static_cast<unsigned>(m_current);
    threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
    Fibre& next = m_threads[index]->fibre;
    if (&next != &from)
        from.switchTo(next);
}

/// One thread of block after block.
void Device::threadBody() {
    Fibre::begin(m_host);
    for (;;) {
        const auto index = static_cast<size_t>(m_current);
        (*m_thread)();
        m_threads[index]->hasEnded = true;
        ++m_ended;
        runNext(m_threads[index]->fibre);
    }
}

void Device::checkSite(const char* what, Site a, Site b) const {
    if (a.line != b.line || (a.file != b.file && std::string_view(a.file) != b.file))
        fail("threads wait at different %s, %s:%d and %s:%d", what, a.file, a.line, b.file, b.line);
}

bool Device::barrier(Site site, bool vote) {
    const unsigned slot = m_barriers % 2;
    if (m_atBarrier == 0) {
        m_barrier = site;
        m_votes[slot] = false;
    }
    checkSite("barriers", m_barrier, site);
    m_votes[slot] |= vote;
    Thread& thread = *m_threads[static_cast<size_t>(m_current)];
    thread.site = site;
    if (++m_atBarrier == m_count) {
        m_atBarrier = 0;
        ++m_barriers;
        makeReady(0, m_count);
    }
    runNext(thread.fibre);
    return m_votes[slot];
}

const void* Device::exchange(Site site, unsigned mask, const void* value, size_t bytes, unsigned flip) {
    const int first = m_current / kWarp * kWarp;
    if (mask != 0xffffffffu || first + kWarp > m_count)
        fail("a shuffle of a part of a warp, with mask 0x%x of %d threads, is not emulated", mask,
             std::min(kWarp, m_count - first));
    if (flip >= kWarp)
        fail("a shuffle flips %u of a lane's five bits", flip);
    Warp& warp = m_warps[static_cast<size_t>(first / kWarp)];
    if (warp.waiting == 0)
        warp.site = site;
    checkSite("shuffles", warp.site, site);
    Thread& thread = *m_threads[static_cast<size_t>(m_current)];
    auto& values = warp.values[thread.exchanges++ % 2];
    std::memcpy(values[static_cast<size_t>(m_current - first)].data(), value, bytes);
    thread.site = site;
    if (++warp.waiting == kWarp) {
        warp.waiting = 0;
        makeReady(first, kWarp);
    }
    runNext(thread.fibre);
    return values[static_cast<unsigned>(m_current - first) ^ flip].data();
}

void Device::reportStuck() const {
    int waiting = 0;
    Site site;
    int elsewhere = 0;
    for (int i = 0; i < m_count; ++i) {
        const Thread& thread = *m_threads[static_cast<size_t>(i)];
        if (thread.hasEnded)
            continue;
        if (site.file == nullptr)
            site = thread.site;
        (thread.site.line == site.line ? waiting : elsewhere)++;
    }
    fail("no thread can go on: %d wait at %s:%d, %d elsewhere, and %d of %d have ended", waiting, site.file,
         site.line, elsewhere, m_ended, m_count);
}

} // namespace

void run(const Launch& launch, const std::function<void()>& thread) {
    device.run(launch, thread);
}

int64_t launches() {
    return device.launches();
}

void allowDynamicBytes(const void* kernel, size_t bytes) {
    device.allowDynamicBytes(kernel, bytes);
}

bool barrier(Site site, bool vote) {
    return device.barrier(site, vote);
}

const void* exchange(Site site, unsigned mask, const void* value, size_t bytes, unsigned flip) {
    return device.exchange(site, mask, value, bytes, flip);
}

void* dynamicShared() {
    return device.dynamicShared();
}

int64_t blockNumber() {
    return device.blocks();
}

void claimStatic(void* memory, size_t bytes) {
    device.claimStatic(memory, bytes);
}

} // namespace workbench::emulated_cuda
