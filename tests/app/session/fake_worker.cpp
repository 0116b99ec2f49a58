/// A worker that behaves as its requests say: answers, dies, hangs, breaks the protocol. For the tests of
/// WorkerClient.

#include "core/wire/frame.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace workbench;
using nlohmann::json;

void send(const json& message, std::vector<std::byte> payload = {}) {
    if (!writeFrame(STDOUT_FILENO, {message.dump(), std::move(payload)}))
        std::exit(1);
}

void sleepForever() {
    for (;;)
        ::pause();
}

/// Ends when a cancel of that request comes.
void waitForCancel(const json& id) {
    for (;;) {
        auto frame = readFrame(STDIN_FILENO);
        if (!frame)
            std::exit(0);
        const json message = json::parse(frame->json);
        if (message.at("method") == "cancel" && message.at("params").at("id") == id)
            return;
    }
}

void answer(const json& request) {
    const json& id = request.at("id");
    const json& params = request.at("params");
    const std::string method = request.at("method");
    if (method == "hello")
        return send({{"id", id}, {"result", {{"version", "fake"}}}});
    if (method == "echo")
        return send({{"id", id}, {"result", params}}, {std::byte{1}, std::byte{2}});
    if (method == "events") {
        for (int i = 0; i < 3; ++i)
            send({{"id", id}, {"event", "token"}, {"token", i}});
        return send({{"id", id}, {"result", json::object()}});
    }
    if (method == "stale") {
        send({{"id", id.get<int>() - 1}, {"result", "of an earlier request"}});
        return send({{"id", id}, {"result", "mine"}});
    }
    if (method == "fail")
        return send({{"id", id}, {"error", params}});
    if (method == "exit") {
        std::fprintf(stderr, "first words\n%s\n", params.at("words").get<std::string>().c_str());
        std::exit(params.at("status").get<int>());
    }
    if (method == "signal")
        std::raise(params.at("number").get<int>());
    if (method == "text")
        std::puts("hello, I am no frame"), std::fflush(stdout), sleepForever();
    if (method == "notJson")
        return (void)writeFrame(STDOUT_FILENO, {"[1, 2", {}});
    if (method == "hang") {
        send({{"id", id}, {"event", "started"}});
        sleepForever();
    }
    if (method == "cancellable") {
        send({{"id", id}, {"event", "started"}});
        waitForCancel(id);
        return send(
            {{"id", id}, {"error", {{"code", "cancelled"}, {"message", "cancelled"}, {"where", ""}}}});
    }
}

} // namespace

int main() {
    while (auto frame = readFrame(STDIN_FILENO))
        answer(json::parse(frame->json));
}
