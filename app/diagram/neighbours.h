#pragma once

#include "app/diagram/diagram.h"

#include <cstdint>
#include <vector>

namespace workbench {

/// Who feeds whom in a diagram. An expanded box stands for all that is in it: its neighbours are outside of
/// it.
class Neighbours {
public:
    explicit Neighbours(const Diagram& diagram);

    std::vector<std::int32_t> producers(std::int32_t box) const; ///< boxes that are not expanded, ascending
    std::vector<std::int32_t> consumers(std::int32_t box) const;

private:
    using Lists = std::vector<std::vector<std::int32_t>>;
    std::vector<std::int32_t> outside(const Lists& lists, std::int32_t box) const;

    std::vector<std::int32_t> m_parents;
    std::vector<bool> m_expanded;
    Lists m_producers, m_consumers; ///< by box
};

/// A box is inside itself and inside all that contain it.
bool isInside(const Diagram& diagram, std::int32_t box, std::int32_t container);

} // namespace workbench
