// The threads of the CPU kernels: as many as LibTorch is set to use, but with waiting of our own. OpenMP's
// threads either spin without an end or sleep at once: on a machine with another busy process the first
// stalls every product for a scheduler's time slice, the second pays a wake-up for each of hundreds of small
// products per token. Here threads spin for a bounded time and then sleep, and nobody waits for a thread that
// has not begun: who is there does the work.
#pragma once

#include <cstdint>

namespace workbench::ops {

/// A reference to a callable f(begin, end), which outlives it.
class RangeBody {
public:
    RangeBody() = default;
    template <typename F>
    RangeBody(const F& function) // NOLINT: made from lambdas in calls
        : m_object(&function), m_call([](const void* object, int64_t begin, int64_t end) {
              (*static_cast<const F*>(object))(begin, end);
          }) {}

    void operator()(int64_t begin, int64_t end) const { m_call(m_object, begin, end); }

private:
    const void* m_object = nullptr;
    void (*m_call)(const void*, int64_t, int64_t) = nullptr;
};

/// Calls body(begin, end) for pieces of [0, count) of at most `grain`, in any order and on any thread, and
/// returns when all are done. Each thread starts with a contiguous share, so that it reads one stream, and
/// then takes pieces of the others' shares. The calling thread takes the whole range when count <= grain,
/// when LibTorch is set to one thread, inside of another call's body, or while another thread's call runs.
/// The first exception that a body throws is thrown again after all threads have left.
void parallelFor(int64_t count, int64_t grain, RangeBody body);

} // namespace workbench::ops
