#pragma once

#include "runtime/worker/channel.h"
#include "runtime/worker/json_edge.h"

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace workbench {

/// A request while it is worked on: its parameters, whether it was cancelled, and the way to tell of
/// progress.
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

    void cancel() { m_cancelled = true; } ///< from any thread
    const std::atomic<bool>& cancelled() const { return m_cancelled; }

private:
    Json m_id;
    std::string m_method;
    Json m_params;
    std::vector<std::byte> m_payload;
    Channel& m_channel;
    std::atomic<bool> m_cancelled = false;
};

/// The answer to a request.
struct Reply {
    Json result = Json::object();
    std::vector<std::byte> payload;
};

} // namespace workbench
