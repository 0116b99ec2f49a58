#include "app/session/tokenizer_service.h"

#include <nlohmann/json.hpp>

namespace workbench {

using nlohmann::json;

TokenizerService::TokenizerService(Tracer tracer, std::filesystem::path model, bool trustRemoteCode)
    : m_tracer(std::move(tracer)), m_model(std::move(model)), m_trustRemoteCode(trustRemoteCode) {
    (void)ensure(); // a failure shows with the first request
}

Status TokenizerService::ensure() {
    if (m_client)
        return Ok{};
    auto started = TokenizerClient::start(m_tracer, m_model, m_trustRemoteCode);
    if (!started)
        return started.error();
    m_client.emplace(std::move(started).value());
    return Ok{};
}

Result<json> TokenizerService::request(const json& request) {
    const std::lock_guard lock(m_mutex);
    const Job job{&m_stop, {}};
    Error failure;
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (auto ready = ensure(); !ready)
            return ready.error();
        auto answer = m_client->request(request, job);
        if (answer || answer.error().code != ErrorCode::runtimeFailed)
            return answer;
        failure = answer.error();
        m_client.reset();
    }
    return failure;
}

Result<TokenizerClient::Tokens> TokenizerService::ids(const json& request) {
    return TokenizerClient::idsOf(this->request(request));
}

Result<std::string> TokenizerService::decode(const TokenizerClient::Tokens& tokens) {
    auto texts = decodeMany({tokens});
    if (!texts)
        return texts.error();
    return std::move(texts->front());
}

Result<std::vector<std::string>>
TokenizerService::decodeMany(const std::vector<TokenizerClient::Tokens>& lists) {
    auto answer = request({{"op", "decode_many"}, {"lists", lists}});
    if (!answer)
        return answer.error();
    std::vector<std::string> texts;
    for (const json& text : answer->value("texts", json::array()))
        texts.push_back(text.is_string() ? text.get<std::string>() : std::string());
    if (texts.size() != lists.size())
        return Error{ErrorCode::runtimeFailed, "the tokenizer did not decode every list of tokens", {}};
    return texts;
}

} // namespace workbench
