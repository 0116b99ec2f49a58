#include "core/support/cancel.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace workbench {

CancelToken::CancelToken() : m_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CancelToken::~CancelToken() {
    if (m_fd >= 0)
        ::close(m_fd);
}

void CancelToken::cancel() noexcept {
    m_cancelled.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    // A failed write means that the counter is already readable, which is all that is wanted.
    [[maybe_unused]] const ssize_t written = ::write(m_fd, &one, sizeof one);
}

} // namespace workbench
