#include "fake_backend.h"

#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

namespace workbench::testing {
namespace {

using nlohmann::json;

class Load : public ServerFixture {};

std::string letters(std::mt19937& random, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text.push_back(static_cast<char>('a' + random() % FakeModel::kVocabulary));
    return text;
}

/// One client's life: some requests are read to their end, others left in the middle.
void liveAsClient(int port, unsigned seed, std::atomic<int>& wrong) {
    std::mt19937 random(seed);
    for (int i = 0; i < 8; ++i) {
        const std::string prompt = letters(random, 1 + random() % 20);
        const std::size_t length = 1 + random() % 60;
        const bool stream = random() % 2 == 0;
        RawClient client(port);
        client.send(post("/v1/completions", json{{"model", "fake"},
                                                 {"prompt", prompt},
                                                 {"max_tokens", length},
                                                 {"temperature", 0},
                                                 {"stream", stream}}
                                                .dump()));
        if (random() % 3 == 0) {
            if (stream && random() % 2 == 0)
                client.waitFor("data: ");
            continue; // leaves
        }
        const Answer answer = client.read();
        std::string text;
        if (!stream)
            text = json::parse(answer.body, nullptr, false).value(json::json_pointer("/choices/0/text"), "");
        for (std::size_t at = 0; stream && (at = answer.body.find("\"text\":\"", at)) != std::string::npos;) {
            at += 8;
            text += answer.body.substr(at, answer.body.find('"', at) - at);
        }
        if (answer.status != 200 || !answer.whole || text != FakeBackend::greedy(prompt, length))
            ++wrong;
    }
}

TEST_F(Load, SixtyFourClientsThatLeaveAtRandomGetTheirOwnTextAndLeaveNothingBehind) {
    m_options.blocks.blocks = 96; // few enough that requests give up their blocks to each other
    std::atomic<int> wrong = 0;
    std::vector<std::thread> clients;
    const int at = port();
    for (unsigned i = 0; i < 64; ++i)
        clients.emplace_back([&, i] { liveAsClient(at, i, wrong); });
    for (std::thread& client : clients)
        client.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(backend().allBlocksFree());
    server().drain();
    EXPECT_TRUE(server().waitDrained(std::chrono::seconds(30)));
}

/// Bytes of memory that the process has in use.
std::int64_t residentBytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    file >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

/// AddressSanitizer keeps it aside, and finds leaks itself.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kFreedMemoryIsUsedAgain = false;
#else
constexpr bool kFreedMemoryIsUsedAgain = true;
#endif

TEST_F(Load, MemoryIsSteadyOverTwoThousandRequests) {
    RawClient client(port());
    std::mt19937 random(1);
    const auto ask = [&](int count) {
        for (int i = 0; i < count; ++i) {
            client.send(
                post("/v1/completions",
                     json{{"model", "fake"}, {"prompt", letters(random, 8)}, {"max_tokens", 8}}.dump()));
            ASSERT_EQ(client.read().status, 200);
        }
    };
    ask(500); // caches of allocator and prefixes fill
    const std::int64_t before = residentBytes();
    ask(1500);
    if (kFreedMemoryIsUsedAgain) {
        EXPECT_LT(residentBytes() - before, 8 << 20);
    }
    EXPECT_TRUE(backend().allBlocksFree());
}

} // namespace
} // namespace workbench::testing
