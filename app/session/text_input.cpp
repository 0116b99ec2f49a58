#include "app/session/text_input.h"

#include "app/session/tokenizer_client.h"
#include "core/support/read_file.h"
#include "core/support/utf8.h"

#include <algorithm>

namespace workbench {
namespace {

constexpr std::int64_t kMostTokens = 2048;
constexpr std::int64_t kSequence = 512;
constexpr std::uint64_t kLargestText = 16 << 20;

Error badText(const std::filesystem::path& file, const std::string& what) {
    return {ErrorCode::badInput, "the text " + file.string() + " " + what, file.string()};
}

} // namespace

TokenInput sequencesOf(const std::vector<std::int64_t>& tokens, std::int64_t special,
                       std::int64_t contextLength) {
    const std::int64_t longest = contextLength > 0 ? std::min(kSequence, contextLength) : kSequence;
    special = std::min(special, longest - 1); // something of the text has to fit
    const auto own = tokens.begin() + special;
    TokenInput input;
    for (auto next = own; next < tokens.end();) {
        const std::int64_t room = std::min(longest, kMostTokens - std::ssize(input.tokens)) - special;
        if (room < 1)
            break;
        std::vector<std::int64_t> sequence(tokens.begin(), own);
        const auto end = next + std::min<std::int64_t>(room, tokens.end() - next);
        sequence.insert(sequence.end(), next, end);
        input.add(sequence);
        next = end;
    }
    return input;
}

Result<TokenInput> tokensOfText(const Session& session, const std::filesystem::path& file,
                                std::int64_t contextLength, const Job& job) {
    const TracedModel& model = session.model();
    if (model.directory.empty() || !session.tracer())
        return badText(file, "needs a tokenizer, which " + model.archive.string() + " does not have");
    auto text = readFile(file, kLargestText);
    if (!text)
        return text.error();
    if (!isUtf8(*text))
        return badText(file, "is not UTF-8");
    auto tokenizer =
        TokenizerClient::start(*session.tracer(), model.directory, session.options().trustRemoteCode);
    if (!tokenizer)
        return tokenizer.error();
    auto tokens = tokenizer->encode(*text, job);
    if (!tokens)
        return tokens.error();
    // What the tokenizer puts around no text at all, as far as the text begins with it, too.
    auto around = tokenizer->encode("", job);
    if (!around)
        return around.error();
    const auto own = std::mismatch(around->begin(), around->end(), tokens->begin(), tokens->end()).second;
    if (own == tokens->end())
        return badText(file, "has no tokens");
    return sequencesOf(*tokens, own - tokens->begin(), contextLength);
}

} // namespace workbench
