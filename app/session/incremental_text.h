#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// Turns tokens into text as they come: gives only what later tokens cannot change any more (a token may be
/// half of a character). Whoever owns it decodes token lists meanwhile.
///
/// A window of tokens is decoded with and without the new ones, so that a long text does not cost the square
/// of its length, and a tokenizer that drops the space before the first token still gives it.
class IncrementalText {
public:
    /// The next token. take() needs the texts of window() and of fresh() then.
    void push(std::int64_t token) { m_tokens.push_back(token); }
    const std::vector<std::int64_t>& window() const { return m_tokens; }
    std::vector<std::int64_t> fresh() const; ///< the end of the window: those whose text was not given yet

    /// What can be shown now.
    std::string take(const std::string& windowText, const std::string& freshText);
    /// What take() still held back, at the end.
    std::string finish();

private:
    std::vector<std::int64_t> m_tokens; ///< those given out last, then those that are not settled
    std::size_t m_settled = 0;          ///< tokens at the front whose text was given out
    std::string m_before;               ///< text of these
    std::string m_held;                 ///< text of the others while it may still change
};

} // namespace workbench
