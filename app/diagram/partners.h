#pragma once

#include "app/diagram/correspondence.h"
#include "app/diagram/diagram.h"

#include <cstdint>
#include <optional>
#include <vector>

/// The correspondence of two graphs, told of the boxes of two diagrams.

namespace workbench {

/// What the rewrite did to a box. A collapsed module is `merged` when anything in it changed, `removed` or
/// `added` when all of it is. Expanded boxes and copies of values say nothing (nullopt): what is in them, or
/// their own box, does.
std::optional<Fate> fateOf(const Correspondence& map, GraphSide side, const Box& box);
std::vector<std::optional<Fate>> fatesOf(const Correspondence& map, GraphSide side, const Diagram& diagram);

/// The boxes of the other side's diagram that stand for the same; empty: it has no partner, or none in that
/// diagram.
std::vector<std::int32_t> partnersOf(const Correspondence& map, GraphSide side, const Box& box,
                                     const Diagram& other);
/// Whether the box has a partner at all, shown or not.
bool hasPartner(const Correspondence& map, GraphSide side, const Box& box);

} // namespace workbench
