#include "core/support/words.h"

namespace workbench {
namespace {

Error malformed(std::string_view command, std::string_view what) {
    return {ErrorCode::usage, "the command '" + std::string(command) + "' " + std::string(what), {}};
}

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

} // namespace

Result<std::vector<std::string>> splitWords(std::string_view command) {
    std::vector<std::string> words;
    std::string word;
    bool inWord = false;
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (c == '\\' && quote != '\'') {
            if (++i == command.size())
                return malformed(command, "ends with a backslash");
            word += command[i];
            inWord = true;
        } else if (quote) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            inWord = true;
        } else if (!isBlank(c)) {
            word += c;
            inWord = true;
        } else if (inWord) {
            words.push_back(std::move(word));
            word.clear();
            inWord = false;
        }
    }
    if (quote)
        return malformed(command, "has a quote that is not closed");
    if (inWord)
        words.push_back(std::move(word));
    if (words.empty())
        return malformed(command, "is empty");
    return words;
}

} // namespace workbench
