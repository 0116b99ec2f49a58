#include "runtime/engine/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace workbench {

StopMatcher::StopMatcher(std::vector<std::string> stops) : m_stops(std::move(stops)) {
    std::erase(m_stops, std::string()); // an empty one would end every text before it begins
}

std::string StopMatcher::push(std::string_view piece) {
    if (m_stopped)
        return {};
    m_held += piece;
    std::size_t begin = std::string::npos;
    std::size_t end = std::string::npos;
    for (const std::string& stop : m_stops) {
        const std::size_t place = m_held.find(stop);
        if (place == std::string::npos || place + stop.size() > end)
            continue;
        if (place + stop.size() < end || place < begin) {
            begin = place;
            end = place + stop.size();
        }
    }
    m_stopped = begin != std::string::npos;
    const std::size_t shown = m_stopped ? begin : m_held.size() - heldBack();
    std::string text = m_held.substr(0, shown);
    m_held.erase(0, m_stopped ? m_held.size() : shown);
    return text;
}

/// The length of the longest end of the text that begins a stop string.
std::size_t StopMatcher::heldBack() const {
    std::size_t longest = 0;
    for (const std::string& stop : m_stops)
        for (std::size_t size = std::min(stop.size() - 1, m_held.size()); size > longest; --size)
            if (std::string_view(m_held).ends_with(std::string_view(stop).substr(0, size)))
                longest = size;
    return longest;
}

std::string StopMatcher::finish() {
    return std::exchange(m_held, {});
}

} // namespace workbench
