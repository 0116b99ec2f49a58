#include "app/session/incremental_text.h"

#include <string_view>
#include <utility>

namespace workbench {
namespace {

// How a tokenizer decodes bytes that are not a whole character yet.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// A character has four bytes at most: so many tokens that end in no whole one are no character at all.
constexpr std::size_t kMostPending = 32;

} // namespace

std::vector<std::int64_t> IncrementalText::fresh() const {
    return {m_tokens.begin() + static_cast<std::ptrdiff_t>(m_settled), m_tokens.end()};
}

std::string IncrementalText::take(const std::string& windowText, const std::string& freshText) {
    m_held.clear();
    if (windowText.size() <= m_before.size())
        return {};
    std::string text = windowText.substr(m_before.size());
    if (windowText.ends_with(kReplacement) && m_tokens.size() - m_settled < kMostPending) {
        m_held = std::move(text);
        return {};
    }
    m_tokens = fresh();
    m_settled = m_tokens.size();
    m_before = freshText;
    return text;
}

std::string IncrementalText::finish() {
    return std::exchange(m_held, {});
}

} // namespace workbench
