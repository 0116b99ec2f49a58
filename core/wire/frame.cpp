#include "core/wire/frame.h"

#include "core/support/sigpipe_guard.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace workbench {
namespace {

constexpr std::string_view kMagic = "FWB1";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 20;
constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{16} << 30;
// A buffer grows with the bytes that came, not with what a header claims: a broken header must not allocate
// 16 GiB.
constexpr std::uint64_t kGrowBytes = std::uint64_t{64} << 20;

using Header = std::array<unsigned char, kHeaderBytes>;

Error failed(std::string message) {
    return Error{ErrorCode::runtimeFailed, std::move(message), {}};
}

Error systemFailure(std::string_view what) {
    return failed(std::string(what) + ": " + std::strerror(errno) + ".");
}

/// Waits until a non-blocking descriptor is ready again.
void waitFor(int fd, short events) {
    pollfd entry{fd, events, 0};
    ::poll(&entry, 1, -1);
}

/// Reads up to `bytes`; fewer only at the end of the stream.
Result<std::size_t> readUpTo(int fd, void* data, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t count = ::read(fd, static_cast<char*>(data) + done, bytes - done);
        if (count > 0)
            done += static_cast<std::size_t>(count);
        else if (count == 0)
            break;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            waitFor(fd, POLLIN);
        else if (errno != EINTR)
            return systemFailure("A frame cannot be read");
    }
    return done;
}

template <typename Buffer>
Status readGrowing(int fd, Buffer& buffer, std::uint64_t bytes, std::string_view part) {
    while (buffer.size() < bytes) {
        const std::size_t done = buffer.size();
        const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, kGrowBytes));
        buffer.resize(done + step);
        auto count = readUpTo(fd, buffer.data() + done, step);
        if (!count)
            return count.error();
        if (*count < step)
            return failed("The stream ended inside a frame: its " + std::string(part) + " has " +
                          std::to_string(done + *count) + " of " + std::to_string(bytes) + " bytes.");
    }
    return Ok{};
}

template <typename Unsigned>
Unsigned littleEndian(const unsigned char* bytes) {
    Unsigned value = 0;
    for (std::size_t i = sizeof(Unsigned); i-- > 0;)
        value = static_cast<Unsigned>(value << 8 | bytes[i]);
    return value;
}

template <typename Unsigned>
void putLittleEndian(unsigned char* bytes, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
        bytes[i] = static_cast<unsigned char>(value >> (8 * i));
}

Status checkSizes(std::uint64_t jsonBytes, std::uint64_t payloadBytes) {
    if (jsonBytes > kMaxJsonBytes)
        return failed("A frame with " + std::to_string(jsonBytes) +
                      " bytes of JSON is refused: the limit is " + std::to_string(kMaxJsonBytes) + ".");
    if (payloadBytes > kMaxPayloadBytes)
        return failed("A frame with a payload of " + std::to_string(payloadBytes) +
                      " bytes is refused: the limit is " + std::to_string(kMaxPayloadBytes) + ".");
    return Ok{};
}

Status checkHeader(const Header& header) {
    if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0)
        return failed(
            "The stream is not in the workbench's protocol: a frame starts with 'FWB1'. Is something else "
            "printing to the worker's standard output?");
    const auto version = littleEndian<std::uint32_t>(header.data() + 4);
    if (version != kVersion)
        return failed("The other side speaks version " + std::to_string(version) +
                      " of the protocol, this one version " + std::to_string(kVersion) +
                      ": use the same release on both.");
    return checkSizes(littleEndian<std::uint32_t>(header.data() + 8),
                      littleEndian<std::uint64_t>(header.data() + 12));
}

Status writeAll(int fd, const void* data, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t count = ::write(fd, static_cast<const char*>(data) + done, bytes - done);
        if (count >= 0)
            done += static_cast<std::size_t>(count);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            waitFor(fd, POLLOUT);
        else if (errno == EPIPE)
            return failed("A frame cannot be written: the other side has closed the pipe.");
        else if (errno != EINTR)
            return systemFailure("A frame cannot be written");
    }
    return Ok{};
}

} // namespace

Result<Frame> readFrame(int fd) {
    Header header{};
    auto count = readUpTo(fd, header.data(), header.size());
    if (!count)
        return count.error();
    if (*count == 0)
        return failed("end of stream");
    // Foreign text is often shorter than a header: say that it is foreign, not that it is short.
    if (*count < header.size() &&
        std::memcmp(header.data(), kMagic.data(), std::min(*count, kMagic.size())) == 0)
        return failed("The stream ended inside a frame: its header has " + std::to_string(*count) + " of " +
                      std::to_string(kHeaderBytes) + " bytes.");
    if (auto valid = checkHeader(header); !valid)
        return valid.error();

    Frame frame;
    if (auto read = readGrowing(fd, frame.json, littleEndian<std::uint32_t>(header.data() + 8), "JSON");
        !read)
        return read.error();
    if (auto read =
            readGrowing(fd, frame.payload, littleEndian<std::uint64_t>(header.data() + 12), "payload");
        !read)
        return read.error();
    return frame;
}

Status writeFrame(int fd, const Frame& frame) {
    if (auto valid = checkSizes(frame.json.size(), frame.payload.size()); !valid)
        return valid;
    Header header{};
    std::memcpy(header.data(), kMagic.data(), kMagic.size());
    putLittleEndian(header.data() + 4, kVersion);
    putLittleEndian(header.data() + 8, static_cast<std::uint32_t>(frame.json.size()));
    putLittleEndian(header.data() + 12, static_cast<std::uint64_t>(frame.payload.size()));
    // One write for header and message: a reader that is woken finds both.
    std::string head(reinterpret_cast<const char*>(header.data()), header.size());
    head += frame.json;

    const SigpipeGuard guard;
    if (auto written = writeAll(fd, head.data(), head.size()); !written)
        return written;
    return writeAll(fd, frame.payload.data(), frame.payload.size());
}

} // namespace workbench
