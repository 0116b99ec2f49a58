#include "app/gui/canvas/canvas_panel.h"

#include <algorithm>

/// What the canvas and the other panels tell each other of what is chosen.

namespace workbench::gui {
namespace {

/// The nodes that show a site: those that it removes, else its parts, else where its first condition failed.
std::vector<NodeId> nodesOf(const Site& site) {
    std::vector<NodeId> nodes = site.nodes;
    if (nodes.empty())
        for (const RoleNode& role : site.roles)
            nodes.push_back(role.node);
    if (nodes.empty() && site.miss && site.miss->node != kNone)
        nodes.push_back(site.miss->node);
    return nodes;
}

} // namespace

void CanvasPanel::tellSelection() {
    const std::int32_t index = m_pane->view().current();
    m_choosing = true;
    if (index < 0) {
        selection().clear();
    } else {
        const Diagram& diagram = m_pane->scene()->diagram;
        const Box& box = diagram.boxes[static_cast<std::size_t>(index)];
        NodeId node = box.node;
        if (node == kNone && box.beside >= 0)
            node = diagram.boxes[static_cast<std::size_t>(box.beside)].node;
        if (box.kind == Box::Kind::module || node == kNone)
            selection().selectModule(box.kind == Box::Kind::module ? box.module : diagram.scope);
        else
            selection().selectNode(node, std::string(document().graph().modulePath(node)));
    }
    m_choosing = false;
}

std::vector<NodeId> CanvasPanel::nodesOfSelection() const {
    if (const auto& site = selection().site())
        return nodesOf(document().analysis().sites[*site]);
    return selection().node() != kNone ? std::vector{selection().node()} : std::vector<NodeId>{};
}

void CanvasPanel::takeSelection() {
    if (m_choosing || !m_pane->scene())
        return;
    chooseSelected();
    m_pane->view().ensureShown(m_pane->view().chosen());
}

void CanvasPanel::chooseSelected() {
    const Scene* scene = m_pane->scene();
    std::vector<std::int32_t> boxes;
    for (const NodeId node : nodesOfSelection())
        if (const std::int32_t box = boxOf(scene->diagram, node); box >= 0)
            boxes.push_back(box);
    if (boxes.empty() && !selection().module().empty())
        for (std::size_t i = 0; i < scene->boxes.size(); ++i)
            if (const Box& box = scene->diagram.boxes[i];
                box.kind == Box::Kind::module && box.module == selection().module())
                boxes.push_back(static_cast<std::int32_t>(i));
    std::sort(boxes.begin(), boxes.end());
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
    if (boxes != m_pane->view().chosen())
        m_pane->view().choose(std::move(boxes));
}

void CanvasPanel::reveal() {
    if (const std::vector<NodeId> nodes = nodesOfSelection(); !nodes.empty())
        m_pane->reveal(nodes);
    else
        m_pane->revealModule(selection().module());
}

} // namespace workbench::gui
