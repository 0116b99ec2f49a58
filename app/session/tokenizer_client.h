#pragma once

#include "app/session/job.h"
#include "app/session/tracer.h"
#include "core/support/subprocess.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Hugging Face's own tokenizer in a Python helper. One request at a time; one thread at a time.
class TokenizerClient {
public:
    using Tokens = std::vector<std::int64_t>;

    static Result<TokenizerClient> start(const Tracer& tracer, const std::filesystem::path& model,
                                         bool trustRemoteCode);

    Result<Tokens> encode(std::string_view text, const Job& job);
    /// The model's chat template around one message of the user.
    Result<Tokens> chat(std::string_view message, const Job& job);
    Result<std::string> decode(const Tokens& tokens, const Job& job);

private:
    explicit TokenizerClient(Subprocess process) : m_process(std::move(process)) {}
    Result<nlohmann::json> request(const nlohmann::json& request, const Job& job);
    Result<std::string> readLine(const Job& job);
    Result<Tokens> idsOf(const Result<nlohmann::json>& answer) const;

    Subprocess m_process;
    std::string m_pending; ///< read, but not yet a whole line
};

/// Turns tokens into text as they come: gives only what later tokens cannot change any more (a token may be
/// half of a character).
class TextStream {
public:
    explicit TextStream(TokenizerClient& tokenizer) : m_tokenizer(&tokenizer) {}
    Result<std::string> add(std::int64_t token, const Job& job);
    /// What add() still held back.
    std::string finish();

private:
    TokenizerClient* m_tokenizer;
    TokenizerClient::Tokens m_tokens; ///< the window: those given out last, then those that are not settled
    std::size_t m_settled = 0;        ///< tokens at the window's front whose text was given out
    std::string m_before;             ///< text of these
    std::string m_held;               ///< text of the others while it may still change
};

} // namespace workbench
