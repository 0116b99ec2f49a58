#include "app/session/site_list.h"

#include "app/session/plan_builder.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace workbench {
namespace {

bool isDigit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

std::optional<std::int64_t> numberIn(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value)
                                                                                  : std::nullopt;
}

/// The digits at the start, without leading zeros.
std::string_view digitsOf(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && isDigit(text[end]))
        ++end;
    text = text.substr(0, end);
    while (text.size() > 1 && text.front() == '0')
        text.remove_prefix(1);
    return text;
}

} // namespace

std::optional<std::int64_t> layerOf(std::string_view module) {
    for (std::size_t start = 0; start <= module.size();) {
        const std::size_t end = std::min(module.find('.', start), module.size());
        if (const auto number = numberIn(module.substr(start, end - start)))
            return number;
        start = end + 1;
    }
    return std::nullopt;
}

Result<LayerRange> LayerRange::parse(std::string_view text) {
    LayerRange range;
    if (trimmed(text).empty())
        return range;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string_view part = trimmed(text.substr(start, end - start));
        start = end + 1;
        const std::size_t dash = part.find('-');
        const auto first = numberIn(trimmed(part.substr(0, dash)));
        const auto last = dash == std::string_view::npos ? first : numberIn(trimmed(part.substr(dash + 1)));
        if (!first || !last || *last < *first)
            return Error{ErrorCode::usage,
                         "'" + std::string(part) + "' is no layer or range of layers: write 0-11 or 3, 5",
                         {}};
        range.m_ranges.emplace_back(*first, *last);
    }
    return range;
}

bool LayerRange::holds(std::optional<std::int64_t> layer) const {
    return m_ranges.empty() ||
           (layer && std::any_of(m_ranges.begin(), m_ranges.end(), [&](const auto& range) {
                return range.first <= *layer && *layer <= range.second;
            }));
}

bool precedes(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const std::string_view first = digitsOf(a), second = digitsOf(b);
            if (first != second)
                return first.size() != second.size() ? first.size() < second.size() : first < second;
            a.remove_prefix(static_cast<std::size_t>(first.data() + first.size() - a.data()));
            b.remove_prefix(static_cast<std::size_t>(second.data() + second.size() - b.data()));
        } else if (a.front() != b.front()) {
            return a.front() < b.front();
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return a.size() < b.size();
}

std::string stateReason(const Graph& canonical, const Site& site, const SiteOutcome& outcome,
                        std::string_view note) {
    using State = SiteOutcome::State;
    std::string text;
    if (site.miss)
        text = reasonText(canonical, *site.miss);
    else if (outcome.state == State::contained)
        text = "inside " + outcome.with;
    else if (outcome.state == State::conflicts)
        text = "shares nodes with " + outcome.with;
    else if (outcome.state == State::present)
        text = "the traced graph has the fused op already";
    if (!note.empty())
        text += (text.empty() ? "" : "; ") + std::string(note);
    return text;
}

} // namespace workbench
