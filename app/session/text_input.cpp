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
    if (tokens->empty())
        return badText(file, "has no tokens");
    const std::int64_t count = std::min<std::int64_t>(std::ssize(*tokens), kMostTokens);
    const std::int64_t length = contextLength > 0 ? std::min(kSequence, contextLength) : kSequence;
    TokenInput input;
    for (std::int64_t begin = 0; begin < count; begin += length)
        input.add({tokens->begin() + begin, tokens->begin() + std::min(begin + length, count)});
    return input;
}

} // namespace workbench
