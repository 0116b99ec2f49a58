#include "core/wire/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

namespace workbench {
namespace {

/// A pipe whose ends close themselves.
class Pipe {
public:
    Pipe() { EXPECT_EQ(::pipe(m_ends), 0); }
    ~Pipe() {
        closeReader();
        closeWriter();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reader() const { return m_ends[0]; }
    int writer() const { return m_ends[1]; }
    void closeReader() { close(m_ends[0]); }
    void closeWriter() { close(m_ends[1]); }

private:
    static void close(int& fd) {
        if (fd >= 0)
            ::close(fd);
        fd = -1;
    }
    int m_ends[2] = {-1, -1};
};

void put(int fd, std::string_view bytes) {
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), ssize_t(bytes.size()));
}

std::string header(std::uint32_t version, std::uint32_t json, std::uint64_t payload) {
    std::string bytes = "FWB1";
    for (int i = 0; i < 4; ++i)
        bytes += static_cast<char>(version >> (8 * i));
    for (int i = 0; i < 4; ++i)
        bytes += static_cast<char>(json >> (8 * i));
    for (int i = 0; i < 8; ++i)
        bytes += static_cast<char>(payload >> (8 * i));
    return bytes;
}

std::string errorAfter(std::string_view bytes) {
    Pipe pipe;
    put(pipe.writer(), bytes);
    pipe.closeWriter();
    const auto frame = readFrame(pipe.reader());
    return frame ? "" : frame.error().message;
}

TEST(Frame, LaysOutHeaderAsDocumented) {
    Pipe pipe;
    ASSERT_TRUE(writeFrame(pipe.writer(), {"{}", {std::byte{7}, std::byte{0}, std::byte{255}}}));
    std::string bytes(64, '\0');
    bytes.resize(static_cast<std::size_t>(::read(pipe.reader(), bytes.data(), bytes.size())));
    EXPECT_EQ(bytes, header(1, 2, 3) + "{}" + std::string("\x07\x00\xff", 3));
}

TEST(Frame, ReturnsWhatWasWrittenThoughPipeHoldsLess) {
    Pipe pipe;
    Frame sent{"{\"id\":1}", std::vector<std::byte>(5'000'000)};
    for (std::size_t i = 0; i < sent.payload.size(); ++i)
        sent.payload[i] = static_cast<std::byte>(i * 31 >> 3);
    std::thread writer([&] {
        EXPECT_TRUE(writeFrame(pipe.writer(), sent));
        EXPECT_TRUE(writeFrame(pipe.writer(), {"second", {}}));
    });
    const auto first = readFrame(pipe.reader());
    const auto second = readFrame(pipe.reader());
    writer.join();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->json, sent.json);
    EXPECT_TRUE(first->payload == sent.payload);
    EXPECT_EQ(second->json, "second");
    EXPECT_TRUE(second->payload.empty());
}

TEST(Frame, WaitsOnNonBlockingDescriptors) {
    Pipe pipe;
    for (const int fd : {pipe.reader(), pipe.writer()})
        ASSERT_EQ(::fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    const Frame sent{"x", std::vector<std::byte>(1'000'000, std::byte{3})};
    std::thread writer([&] { EXPECT_TRUE(writeFrame(pipe.writer(), sent)); });
    const auto frame = readFrame(pipe.reader());
    writer.join();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(frame->payload == sent.payload);
}

TEST(Frame, SurvivesInterruptingSignals) {
    struct sigaction action {};
    action.sa_handler = [](int) {}; // no SA_RESTART: system calls return EINTR
    struct sigaction old {};
    sigaction(SIGALRM, &action, &old);
    const itimerval every{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every, nullptr);
    Pipe pipe;
    const Frame sent{"x", std::vector<std::byte>(20'000'000, std::byte{3})};
    std::thread writer([&] { EXPECT_TRUE(writeFrame(pipe.writer(), sent)); });
    const auto frame = readFrame(pipe.reader());
    writer.join();
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &old, nullptr);
    ASSERT_TRUE(frame);
    EXPECT_TRUE(frame->payload == sent.payload);
}

TEST(Frame, TellsEndOfStreamFromTruncation) {
    EXPECT_EQ(errorAfter(""), "end of stream");
    EXPECT_NE(errorAfter(header(1, 2, 0).substr(0, 11)).find("its header has 11 of 20 bytes"),
              std::string::npos);
    EXPECT_NE(errorAfter(header(1, 5, 0) + "{}").find("its JSON has 2 of 5 bytes"), std::string::npos);
    EXPECT_NE(errorAfter(header(1, 2, 9) + "{}abc").find("its payload has 3 of 9 bytes"), std::string::npos);
}

TEST(Frame, RefusesForeignText) {
    EXPECT_NE(errorAfter("Traceback (most recent call last):\n").find("a frame starts with 'FWB1'"),
              std::string::npos);
    EXPECT_NE(errorAfter("Killed\n").find("a frame starts with 'FWB1'"), std::string::npos);
}

TEST(Frame, RefusesAnotherVersion) {
    EXPECT_NE(errorAfter(header(2, 2, 0) + "{}").find("speaks version 2 of the protocol"), std::string::npos);
}

TEST(Frame, RefusesSizesPastTheLimits) {
    EXPECT_NE(errorAfter(header(1, (1u << 30) + 1, 0)).find("the limit is 1073741824"), std::string::npos);
    EXPECT_NE(errorAfter(header(1, 2, (std::uint64_t{16} << 30) + 1)).find("the limit is 17179869184"),
              std::string::npos);
}

TEST(Frame, DoesNotAllocateWhatHeaderOnlyClaims) {
    // 16 GiB are within the limit, but only three bytes come.
    EXPECT_NE(errorAfter(header(1, 0, std::uint64_t{16} << 30) + "abc")
                  .find("its payload has 3 of 17179869184 bytes"),
              std::string::npos);
}

TEST(Frame, ReportsClosedPipeInsteadOfDyingBySigpipe) {
    Pipe pipe;
    pipe.closeReader();
    const auto written = writeFrame(pipe.writer(), {"{}", {}});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(written.error().message.find("the other side has closed the pipe"), std::string::npos);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(Frame, ReportsBadDescriptor) {
    EXPECT_FALSE(readFrame(-1));
    EXPECT_FALSE(writeFrame(-1, {"{}", {}}));
}

} // namespace
} // namespace workbench
