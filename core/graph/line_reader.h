#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace workbench {

/// Reads tokens of one line of text after another. Functions that read something return false after fail();
/// the first failure is kept.
class LineReader {
protected:
    void startLine(std::string_view line);
    bool hasFailed() const { return !m_expected.empty(); }
    /// "line 3: expected a value, found ')'."
    std::string failure() const;
    bool fail(std::string expected);

    void skipSpaces();
    char peek(); ///< the next character that is no space; '\0' at the end
    bool accept(char c);
    bool expect(char c);
    std::string_view word(); ///< letters, digits, '_' and '.'; may be empty
    bool acceptWord(std::string_view expected);
    bool quoted(std::string& result);
    bool wordOrQuoted(std::string& result, const char* what);

    template <typename Number>
    bool number(Number& result, const char* what) {
        skipSpaces();
        const char* begin = m_line.data() + m_position;
        const auto [end, status] = std::from_chars(begin, m_line.data() + m_line.size(), result);
        if (status != std::errc())
            return fail(what);
        m_position += static_cast<std::size_t>(end - begin);
        return true;
    }

    std::string_view m_line;
    std::size_t m_position = 0;

private:
    bool escape(std::string& result);

    std::size_t m_lineNumber = 0;
    std::string m_expected;
    std::size_t m_failedAt = 0;
};

} // namespace workbench
