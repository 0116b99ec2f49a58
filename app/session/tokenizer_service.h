#pragma once

#include "app/session/tokenizer_client.h"

#include <memory>
#include <mutex>
#include <optional>

namespace workbench {

/// A tokenizer helper for several threads, which take turns. A helper that died is started again by the next
/// request, which it then answers: requests depend on nothing before them.
class TokenizerService {
public:
    /// The helper starts at once, and gets ready while others work.
    TokenizerService(Tracer tracer, std::filesystem::path model, bool trustRemoteCode);

    Result<nlohmann::json> request(const nlohmann::json& request);
    Result<TokenizerClient::Tokens> ids(const nlohmann::json& request);
    Result<std::string> decode(const TokenizerClient::Tokens& tokens);
    /// Texts of several token lists.
    Result<std::vector<std::string>> decodeMany(const std::vector<TokenizerClient::Tokens>& lists);

    /// Requests that wait end with an Error, and so do all later ones. From any thread.
    void stop() { m_stop.cancel(); }

private:
    Status ensure();

    const Tracer m_tracer;
    const std::filesystem::path m_model;
    const bool m_trustRemoteCode;
    CancelToken m_stop;
    std::mutex m_mutex;
    std::optional<TokenizerClient> m_client;
};

} // namespace workbench
