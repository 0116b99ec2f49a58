#pragma once

#include "fusion/match/graph_view.h"

#include <cstddef>
#include <optional>

namespace workbench {

/// The dimension, counted from the front, that an operator's argument names (`otherwise` where it has none).
/// Nothing for a dimension that `rank` dimensions do not have: an archive's graph may say anything.
inline std::optional<std::size_t> dimension(const ArgumentValue* given, std::size_t rank,
                                            std::int64_t otherwise = 0) {
    const std::int64_t dim = wrapDim(integer(given).value_or(otherwise), rank);
    if (dim < 0 || static_cast<std::size_t>(dim) >= rank)
        return std::nullopt;
    return static_cast<std::size_t>(dim);
}

} // namespace workbench
