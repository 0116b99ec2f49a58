#include "app/diagram/partners.h"

#include <algorithm>

namespace workbench {
namespace {

std::optional<Fate> fateOfNodes(const Correspondence& map, GraphSide side, const std::vector<NodeId>& nodes) {
    std::size_t kept = 0, gone = 0;
    const Fate alone = side == GraphSide::original ? Fate::removed : Fate::added;
    for (const NodeId node : nodes) {
        const Fate fate = map.fate(side, node);
        kept += fate == Fate::kept;
        gone += fate == alone;
    }
    if (kept == nodes.size())
        return Fate::kept;
    return gone == nodes.size() ? alone : Fate::merged;
}

void sortOnce(std::vector<std::int32_t>& boxes) {
    std::sort(boxes.begin(), boxes.end());
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
}

/// Values beside others are found by their value; the first box of each is enough.
std::vector<std::int32_t> boxesOfValues(const Diagram& diagram, const std::vector<ValueId>& values) {
    std::vector<std::int32_t> boxes;
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
        if (const Box& box = diagram.boxes[i];
            box.kind == Box::Kind::value &&
            std::find(values.begin(), values.end(), box.value) != values.end())
            boxes.push_back(static_cast<std::int32_t>(i));
    return boxes;
}

std::int32_t boxOfModule(const Diagram& diagram, const Box& wanted) {
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
        if (const Box& box = diagram.boxes[i];
            box.kind == Box::Kind::module &&
            (box.key == wanted.key || (box.count == wanted.count && box.module == wanted.module)))
            return static_cast<std::int32_t>(i);
    return -1;
}

} // namespace

std::optional<Fate> fateOf(const Correspondence& map, GraphSide side, const Box& box) {
    switch (box.kind) {
    case Box::Kind::node:
        return map.fate(side, box.node);
    case Box::Kind::value:
        if (box.role == Box::Role::copy || box.value == kNone)
            return std::nullopt;
        return map.valueFate(side, box.value);
    case Box::Kind::module:
        if (box.expanded || box.nodes.empty())
            return std::nullopt;
        return fateOfNodes(map, side, box.nodes);
    }
    return std::nullopt;
}

std::vector<std::optional<Fate>> fatesOf(const Correspondence& map, GraphSide side, const Diagram& diagram) {
    std::vector<std::optional<Fate>> fates;
    fates.reserve(diagram.boxes.size());
    for (const Box& box : diagram.boxes)
        fates.push_back(fateOf(map, side, box));
    return fates;
}

std::vector<std::int32_t> partnersOf(const Correspondence& map, GraphSide side, const Box& box,
                                     const Diagram& other) {
    if (box.kind == Box::Kind::value)
        return box.value == kNone ? std::vector<std::int32_t>{}
                                  : boxesOfValues(other, map.valuePartners(side, box.value));
    if (box.kind == Box::Kind::module)
        if (const std::int32_t same = boxOfModule(other, box); same >= 0)
            return {same};
    std::vector<std::int32_t> boxes;
    for (const NodeId node : box.nodes)
        for (const NodeId partner : map.partners(side, node))
            if (const std::int32_t found = boxOf(other, partner); found >= 0)
                boxes.push_back(found);
    sortOnce(boxes);
    return boxes;
}

bool hasPartner(const Correspondence& map, GraphSide side, const Box& box) {
    if (box.kind == Box::Kind::value)
        return box.value != kNone && !map.valuePartners(side, box.value).empty();
    return std::any_of(box.nodes.begin(), box.nodes.end(),
                       [&](NodeId node) { return !map.partners(side, node).empty(); });
}

} // namespace workbench
