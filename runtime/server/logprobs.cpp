#include "runtime/server/logprobs.h"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

using nlohmann::json;

/// JSON has no infinity; OpenAI's API writes this for a token that is out of the question.
constexpr double kImpossible = -9999;

double writable(double logprob) {
    return std::isfinite(logprob) ? logprob : kImpossible;
}

json chatToken(const TokenPiece& piece, double logprob) {
    json bytes = json::array();
    for (const char byte : piece.bytes)
        bytes.push_back(static_cast<unsigned char>(byte));
    return {{"token", piece.text}, {"logprob", writable(logprob)}, {"bytes", std::move(bytes)}};
}

} // namespace

std::int64_t charactersOf(std::string_view text) {
    return std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

Result<NamedToken> nameToken(TextBackend& backend, const Sampled& sampled) {
    Tokens ids{sampled.token};
    for (const TokenLogprob& other : sampled.top)
        ids.push_back(other.token);
    auto pieces = backend.pieces(ids);
    if (!pieces)
        return pieces.error();
    NamedToken named{std::move(pieces->front()), sampled.logprob, {}};
    for (std::size_t i = 0; i < sampled.top.size(); ++i)
        named.top.emplace_back(std::move((*pieces)[i + 1]), sampled.top[i].logprob);
    return named;
}

json chatLogprobs(const std::vector<NamedToken>& tokens) {
    json content = json::array();
    for (const NamedToken& token : tokens) {
        json entry = chatToken(token.piece, token.logprob);
        entry["top_logprobs"] = json::array();
        for (const auto& [piece, logprob] : token.top)
            entry["top_logprobs"].push_back(chatToken(piece, logprob));
        content.push_back(std::move(entry));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
}

json completionLogprobs(const std::vector<NamedToken>& tokens, std::int64_t& offset) {
    json result = {{"tokens", json::array()},
                   {"token_logprobs", json::array()},
                   {"top_logprobs", json::array()},
                   {"text_offset", json::array()}};
    for (const NamedToken& token : tokens) {
        json top = json::object();
        for (const auto& [piece, logprob] : token.top)
            top.emplace(piece.text,
                        writable(logprob)); // of two with the same text the more probable one stays
        result["tokens"].push_back(token.piece.text);
        result["token_logprobs"].push_back(writable(token.logprob));
        result["top_logprobs"].push_back(std::move(top));
        result["text_offset"].push_back(offset);
        offset += charactersOf(token.piece.text);
    }
    return result;
}

} // namespace workbench
