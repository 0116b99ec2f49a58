#pragma once

#include "core/wire/frame.h"
#include "runtime/worker/json_edge.h"

#include <cstddef>
#include <mutex>
#include <vector>

namespace workbench {

/// The writing end of the protocol; frames of several threads do not mix. A frame that cannot be written ends
/// the process: nobody is left to work for.
class Channel {
public:
    explicit Channel(int fd) : m_fd(fd) {}

    void send(const Json& message, std::vector<std::byte> payload = {});
    int fd() const { return m_fd; }

private:
    int m_fd;
    std::mutex m_mutex;
};

} // namespace workbench
