#pragma once

#include "runtime/worker/request.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace workbench {

/// Reads requests on a thread of its own, so that a cancel arrives while another request runs.
///
/// What is no request is answered with an error frame; what is no frame ends the process with exit code 5,
/// because the place where the next one starts is lost. After the end of the stream the requests that came
/// before it are still worked on, unless nobody reads the answers.
class RequestQueue {
public:
    RequestQueue(int fd, Channel& channel);
    ~RequestQueue();
    RequestQueue(const RequestQueue&) = delete;
    RequestQueue& operator=(const RequestQueue&) = delete;

    /// The next request in order of arrival; nullptr after the end of the stream. A request can be cancelled
    /// for as long as somebody holds it.
    std::shared_ptr<Request> next();

private:
    void read();
    void accept(const Json& message, std::vector<std::byte> payload);
    void tell(const Json& id, void (Request::*what)()); ///< to the request of that id
    void end();

    int m_fd;
    Channel& m_channel;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::shared_ptr<Request>> m_waiting;
    std::vector<std::weak_ptr<Request>> m_running; ///< handed out
    bool m_ended = false;
    std::thread m_reader;
};

} // namespace workbench
