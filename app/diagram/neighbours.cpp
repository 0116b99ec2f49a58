#include "app/diagram/neighbours.h"

#include <algorithm>

namespace workbench {
namespace {

std::size_t at(std::int32_t box) {
    return static_cast<std::size_t>(box);
}

bool isWithin(const std::vector<std::int32_t>& parents, std::int32_t box, std::int32_t container) {
    while (box > container)
        box = parents[at(box)]; // parents come first
    return box == container;
}

} // namespace

Neighbours::Neighbours(const Diagram& diagram)
    : m_producers(diagram.boxes.size()), m_consumers(diagram.boxes.size()) {
    for (const Box& box : diagram.boxes) {
        m_parents.push_back(box.parent);
        m_expanded.push_back(box.expanded);
    }
    const auto join = [&](std::int32_t from, std::int32_t to) {
        m_consumers[at(from)].push_back(to);
        m_producers[at(to)].push_back(from);
    };
    for (const Edge& edge : diagram.edges)
        join(edge.from, edge.to);
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const Box& box = diagram.boxes[i];
        if (box.beside < 0)
            continue;
        join(static_cast<std::int32_t>(i), box.beside);
        if (const std::int32_t maker = box.node == kNone ? -1 : boxOf(diagram, box.node); maker >= 0)
            join(maker, static_cast<std::int32_t>(i)); // a copy leads to who makes the value
    }
}

std::vector<std::int32_t> Neighbours::outside(const Lists& lists, std::int32_t box) const {
    std::vector<std::int32_t> found = lists[at(box)];
    if (m_expanded[at(box)])
        for (std::size_t inner = at(box) + 1; inner < lists.size(); ++inner)
            if (isWithin(m_parents, static_cast<std::int32_t>(inner), box))
                for (const std::int32_t other : lists[inner])
                    if (!isWithin(m_parents, other, box))
                        found.push_back(other);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<std::int32_t> Neighbours::producers(std::int32_t box) const {
    return outside(m_producers, box);
}

std::vector<std::int32_t> Neighbours::consumers(std::int32_t box) const {
    return outside(m_consumers, box);
}

bool isInside(const Diagram& diagram, std::int32_t box, std::int32_t container) {
    while (box > container)
        box = diagram.boxes[at(box)].parent;
    return box == container;
}

} // namespace workbench
