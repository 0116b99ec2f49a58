#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// The framed protocol between the session and a worker: a 20-byte header, a JSON message, an optional binary
/// payload.
///
///     "FWB1"  u32 LE header version (1)  u32 LE bytes of JSON  u64 LE bytes of payload
///
///     request   {"id": 7, "method": "verify", "params": {...}}
///     cancel    {"method": "cancel", "params": {"id": 7}}
///     answers   {"id": 7, "event": "progress", ...}  {"id": 7, "event": "token", ...}
///               {"id": 7, "result": {...}}
///               {"id": 7, "error": {"code": "runtimeFailed", "message": "...", "where": "..."}}
///
/// Limits: JSON 1 GiB, payload 16 GiB; past them the frame is refused. Methods: runtime/worker/PROTOCOL.md.

namespace workbench {

struct Frame {
    std::string json;
    std::vector<std::byte> payload;
};

/// Reads exactly one frame from a file descriptor. An end of file before the first byte is an Error with
/// message "end of stream".
Result<Frame> readFrame(int fd);
Status writeFrame(int fd, const Frame& frame);

} // namespace workbench
