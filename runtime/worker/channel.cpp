#include "runtime/worker/channel.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace workbench {

void Channel::send(const Json& message, std::vector<std::byte> payload) {
    // Text that a library wrote into a message may not be UTF-8; it is replaced, not thrown at.
    const Frame frame{message.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(payload)};
    const std::lock_guard lock(m_mutex);
    if (const auto written = writeFrame(m_fd, frame); !written) {
        std::fprintf(stderr, "workbench-worker: %s\n", written.error().message.c_str());
        ::_exit(5);
    }
}

} // namespace workbench
