#pragma once

#include "core/support/result.h"
#include "fusion/fusion.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a list of sites needs: layers, an order that reads well, one line of why.

namespace workbench {

/// The first number in a module's path: 12 of "model.layers.12.mlp". nullopt: outside of the layers.
std::optional<std::int64_t> layerOf(std::string_view module);

/// A set of layers as a user writes it.
class LayerRange {
public:
    /// "0-11, 20" or "3"; "" holds everything. A usage error says what is wrong with the text.
    static Result<LayerRange> parse(std::string_view text);
    /// A module outside of the layers is held only by "".
    bool holds(std::optional<std::int64_t> layer) const;
    bool holdsAll() const { return m_ranges.empty(); }

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> m_ranges; ///< first and last
};

/// "layers.2" before "layers.10": numbers count as such.
bool precedes(std::string_view a, std::string_view b);

/// Why a site is in its state, in one line: the condition that failed, the other site, the user's own words.
std::string stateReason(const Graph& canonical, const Site& site, const SiteOutcome& outcome,
                        std::string_view note);

} // namespace workbench
