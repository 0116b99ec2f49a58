#include "core/graph/line_reader.h"

#include <algorithm>

namespace workbench {
namespace {

bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

int hexDigit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

} // namespace

void LineReader::startLine(std::string_view line) {
    m_line = line;
    m_position = 0;
    ++m_lineNumber;
}

std::string LineReader::failure() const {
    const std::string found(m_line.substr(std::min(m_failedAt, m_line.size()), 40));
    return "line " + std::to_string(m_lineNumber) + ": expected " + m_expected +
           (found.empty() ? " at the end of the line." : ", found '" + found + "'.");
}

bool LineReader::fail(std::string expected) {
    if (m_expected.empty()) {
        m_expected = std::move(expected);
        skipSpaces();
        m_failedAt = m_position;
    }
    return false;
}

void LineReader::skipSpaces() {
    while (m_position < m_line.size() &&
           (m_line[m_position] == ' ' || m_line[m_position] == '\t' || m_line[m_position] == '\r'))
        ++m_position;
}

char LineReader::peek() {
    skipSpaces();
    return m_position < m_line.size() ? m_line[m_position] : '\0';
}

bool LineReader::accept(char c) {
    if (peek() != c || m_position >= m_line.size())
        return false;
    ++m_position;
    return true;
}

bool LineReader::expect(char c) {
    return accept(c) || fail("'" + std::string(1, c) + "'");
}

std::string_view LineReader::word() {
    skipSpaces();
    const std::size_t begin = m_position;
    while (m_position < m_line.size() && isWordCharacter(m_line[m_position]))
        ++m_position;
    return m_line.substr(begin, m_position - begin);
}

bool LineReader::acceptWord(std::string_view expected) {
    const std::size_t before = m_position;
    if (word() == expected)
        return true;
    m_position = before;
    return false;
}

bool LineReader::quoted(std::string& result) {
    if (!accept('"'))
        return fail("a quoted string");
    result.clear();
    for (; m_position < m_line.size() && m_line[m_position] != '"'; ++m_position) {
        if (m_line[m_position] != '\\')
            result += m_line[m_position];
        else if (!escape(result))
            return false;
    }
    return expect('"');
}

bool LineReader::escape(std::string& result) {
    const char kind = ++m_position < m_line.size() ? m_line[m_position] : '\0';
    if (kind == 'n') {
        result += '\n';
    } else if (kind == 'x' && m_position + 2 < m_line.size()) {
        const int high = hexDigit(m_line[m_position + 1]);
        const int low = hexDigit(m_line[m_position + 2]);
        if (high < 0 || low < 0)
            return fail("two hexadecimal digits");
        result += static_cast<char>(high * 16 + low);
        m_position += 2;
    } else if (kind == '"' || kind == '\\') {
        result += kind;
    } else {
        return fail("an escape (\\n, \\xNN, \\\" or \\\\)");
    }
    return true;
}

bool LineReader::wordOrQuoted(std::string& result, const char* what) {
    if (peek() == '"')
        return quoted(result);
    result = word();
    return !result.empty() || fail(what);
}

} // namespace workbench
