#pragma once

#include "../engine/fake_model.h"
#include "raw_client.h"
#include "runtime/engine/engine.h"
#include "runtime/server/text_server.h"

#include <gtest/gtest.h>

#include <condition_variable>

namespace workbench::testing {

/// Holds the model's steps back until they are let go.
class Gate {
public:
    void close();
    void open();
    /// Until the gate is open or `abort` is set.
    void pass(const std::atomic<bool>& abort);
    void waitForStep(); ///< until a step stands at the closed gate

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_closed = false;
    bool m_waiting = false;
};

/// The engine over the fake model; token 0 is "a", 1 is "b" and so on.
class FakeBackend : public TextBackend {
public:
    struct Options {
        BlockLayout blocks{.blockTokens = 8, .blocks = 512};
        std::int64_t queue = 1024;
        std::int64_t running = 64;
        std::int64_t longestTokens = 256;
        Tokens endTokens{};
    };
    explicit FakeBackend(Options options);
    ~FakeBackend() override;

    const ServedModel& model() const override { return m_model; }
    Result<Tokens> encode(std::string_view text) override; ///< letters a to x; others are refused
    Result<Tokens> chat(const nlohmann::json& messages, const nlohmann::json& variables) override;
    Result<std::string> decode(const Tokens& tokens) override;
    Result<std::vector<TokenPiece>> pieces(const Tokens& tokens) override;
    Id submit(TextRequest request, TextEvents events) override;
    void cancel(Id id) override { m_engine->cancel(id); }
    bool ready() const override { return isReady; }
    std::optional<BackendStats> stats() override;

    Engine& engine() { return *m_engine; }
    bool allBlocksFree();
    /// The greedy text after a prompt, without engine and server.
    static std::string greedy(std::string prompt, std::size_t letters);

    Gate gate;
    std::atomic<bool> isReady = true;

private:
    ServedModel m_model;
    std::unique_ptr<Engine> m_engine;
};

/// A server over a fake backend.
class ServerFixture : public ::testing::Test {
protected:
    int port() {
        if (!m_server)
            start();
        return m_server->port();
    }
    void start();
    FakeBackend& backend() {
        if (!m_backend)
            m_backend = std::make_unique<FakeBackend>(m_options);
        return *m_backend;
    }
    TextServer& server() { return *m_server; }

    /// Status and JSON of one request; a body that is no JSON comes as a string.
    std::pair<int, nlohmann::json> call(const std::string& request);
    std::pair<int, nlohmann::json> complete(const std::string& body) {
        return call(post("/v1/completions", body));
    }
    std::pair<int, nlohmann::json> chat(const std::string& body) {
        return call(post("/v1/chat/completions", body));
    }
    /// The JSON of each event of a streamed answer; the last must be [DONE].
    std::vector<nlohmann::json> events(const std::string& path, const std::string& body);

    FakeBackend::Options m_options;
    TextServerOptions m_serverOptions;

private:
    std::unique_ptr<FakeBackend> m_backend;
    std::unique_ptr<TextServer> m_server;
};

} // namespace workbench::testing
