#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Finds stop strings in a text that arrives in pieces, however it is cut. Bytes are compared; pieces and
/// stop strings of valid UTF-8 never match inside of a character.
class StopMatcher {
public:
    explicit StopMatcher(std::vector<std::string> stops);

    /// Adds a piece. Returns the text that can be shown now: what may be the beginning of a stop string is
    /// held back. After a stop string nothing more comes; of several, the one that ends first counts, and the
    /// longest of those that end together.
    std::string push(std::string_view piece);
    /// What was held back, at the end of the text.
    std::string finish();
    bool stopped() const { return m_stopped; }

private:
    std::size_t heldBack() const;

    std::vector<std::string> m_stops;
    std::string m_held;
    bool m_stopped = false;
};

} // namespace workbench
