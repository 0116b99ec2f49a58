#pragma once

#include "runtime/worker/channel.h"
#include "runtime/worker/json_edge.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace workbench {

/// The answer to a request.
struct Reply {
    Json result = Json::object();
    std::vector<std::byte> payload;
};

/// A request while it is worked on: its parameters, whether it was cancelled, and the way to tell of
/// progress and of the end. Answers and events may come from any thread.
class Request {
public:
    Request(Json id, std::string method, Json params, Channel& channel, std::vector<std::byte> payload = {})
        : m_id(std::move(id)), m_method(std::move(method)), m_params(std::move(params)),
          m_payload(std::move(payload)), m_channel(channel) {}

    const Json& id() const { return m_id; }
    const std::string& method() const { return m_method; }
    const Json& params() const { return m_params; }
    const std::vector<std::byte>& payload() const { return m_payload; }

    /// Sends {"id": ..., "event": name, ...fields}.
    void emit(const char* name, Json fields) const {
        fields["id"] = m_id;
        fields["event"] = name;
        m_channel.send(fields);
    }
    void progress(const char* stage, std::int64_t done, std::int64_t total) const {
        emit("progress", {{"stage", stage}, {"done", done}, {"total", total}});
    }

    void answer(Result<Reply> reply) const {
        if (reply)
            m_channel.send({{"id", m_id}, {"result", std::move(reply->result)}}, std::move(reply->payload));
        else
            m_channel.send({{"id", m_id}, {"error", toJson(reply.error())}});
    }

    void cancel() { ///< from any thread
        const std::lock_guard lock(m_mutex);
        m_cancelled = true;
        m_changed.notify_all();
        if (m_onCancel)
            m_onCancel();
    }
    const std::atomic<bool>& cancelled() const { return m_cancelled; }
    void resume() { ///< from any thread
        const std::lock_guard lock(m_mutex);
        ++m_resumed;
        m_changed.notify_all();
    }
    /// Until a resume that no earlier wait has used up, or a cancel.
    void awaitResume() const {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_resumed > 0 || m_cancelled; });
        m_resumed -= m_resumed > 0;
    }
    /// Called when the request is cancelled, at once where it has been already. Must not wait.
    void onCancel(std::function<void()> call) {
        const std::lock_guard lock(m_mutex);
        m_onCancel = std::move(call);
        if (m_cancelled && m_onCancel)
            m_onCancel();
    }

private:
    Json m_id;
    std::string m_method;
    Json m_params;
    std::vector<std::byte> m_payload;
    Channel& m_channel;
    std::atomic<bool> m_cancelled = false;
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable int m_resumed = 0;
    std::function<void()> m_onCancel;
};

} // namespace workbench
