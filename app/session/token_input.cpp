#include "app/session/token_input.h"

#include "core/support/read_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <random>
#include <sstream>

namespace workbench {
namespace {

constexpr std::uint64_t kSeed = 20240229;
constexpr std::int64_t kLongestSequence = std::int64_t{1} << 17;

Error badTokens(const std::string& where, const std::string& what) {
    return {ErrorCode::badInput, "the tokens " + where + " " + what, where};
}

/// The ids of one line.
Result<std::vector<std::int64_t>> readLine(std::string line, const std::string& where,
                                           std::int64_t vocabulary) {
    for (std::size_t comma = line.find(','); comma != std::string::npos; comma = line.find(',', comma + 1))
        if (const std::size_t next = line.find_first_not_of(" \t", comma + 1);
            next != std::string::npos && line[next] == ',')
            return badTokens(where, "have two commas with no id between them");
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::vector<std::int64_t> ids;
    for (std::string word; words >> word;) {
        std::int64_t id = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (error != std::errc() || end != word.data() + word.size())
            return badTokens(where, "hold '" + word.substr(0, 40) + "', which is no token id");
        if (id < 0 || id >= vocabulary)
            return badTokens(where, "hold " + word + ", which is not below the vocabulary's size " +
                                        std::to_string(vocabulary));
        ids.push_back(id);
    }
    return ids;
}

/// A minus makes a date of digits, too: only what is no file is a list with a negative number in it.
bool isList(const std::string& text) {
    if (text.find_first_not_of("0123456789, \t") == std::string::npos)
        return true;
    std::error_code ignored;
    return text.find_first_not_of("-0123456789, \t") == std::string::npos &&
           !std::filesystem::exists(text, ignored);
}

} // namespace

void TokenInput::add(const std::vector<std::int64_t>& sequence) {
    for (std::size_t i = 0; i < sequence.size(); ++i)
        positions.push_back(static_cast<std::int64_t>(i));
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
    lengths.push_back(static_cast<std::int64_t>(sequence.size()));
}

Result<TokenInput> readTokens(const std::string& text, std::int64_t vocabulary) {
    const bool inlined = isList(text);
    const std::string where = inlined ? "of --tokens" : "in " + text;
    std::string lines = text;
    if (!inlined) {
        auto file = readFile(text);
        if (!file)
            return file.error();
        lines = std::move(file).value();
    }
    TokenInput input;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
        auto ids = readLine(line, where, vocabulary);
        if (!ids)
            return ids.error();
        if (!ids->empty())
            input.add(*ids);
    }
    if (input.tokens.empty())
        return badTokens(where, "are none");
    return input;
}

Status checkContext(const TokenInput& input, std::int64_t contextLength) {
    const std::int64_t longest =
        input.lengths.empty() ? 0 : *std::max_element(input.lengths.begin(), input.lengths.end());
    if (contextLength <= 0 || longest <= contextLength)
        return Ok{};
    return Error{ErrorCode::badInput,
                 "a sequence of " + std::to_string(longest) +
                     " tokens is longer than the context that the model is for, " +
                     std::to_string(contextLength) + ": give shorter ones, one a line of a file",
                 {}};
}

Result<TokenInput> defaultTokens(std::int64_t window, std::int64_t vocabulary, std::int64_t contextLength,
                                 std::int64_t shortest) {
    if (vocabulary <= 0)
        return Error{
            ErrorCode::badInput, "the size of the model's vocabulary is not known: it cannot be run", {}};
    if (std::max(window, shortest) > kLongestSequence &&
        (contextLength <= 0 || contextLength > kLongestSequence))
        return Error{ErrorCode::badInput,
                     "the model's window of " + std::to_string(window) +
                         " tokens is too long for the default input: give --tokens",
                     {}};
    // The raw generator is portable, its distributions are not.
    std::mt19937_64 random(kSeed);
    TokenInput input;
    for (const std::int64_t extra : {3, 10}) {
        std::int64_t length = std::max(window, shortest) + extra;
        if (contextLength > 0)
            length = std::min(length, contextLength);
        std::vector<std::int64_t> sequence(static_cast<std::size_t>(length));
        for (std::int64_t& id : sequence)
            id = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(vocabulary));
        input.add(sequence);
    }
    return input;
}

} // namespace workbench
