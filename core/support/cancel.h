#pragma once

#include <atomic>

namespace workbench {

/// A request to stop, set once from any thread or from a signal handler. Whoever waits polls `fd()` beside
/// its own descriptors.
class CancelToken {
public:
    CancelToken();
    ~CancelToken();
    CancelToken(const CancelToken&) = delete;
    CancelToken& operator=(const CancelToken&) = delete;

    void cancel() noexcept; ///< async-signal-safe
    bool cancelled() const noexcept { return m_cancelled.load(std::memory_order_acquire); }
    int fd() const noexcept { return m_fd; } ///< readable once cancelled; never read from it

private:
    std::atomic<bool> m_cancelled{false};
    int m_fd = -1;
};

} // namespace workbench
