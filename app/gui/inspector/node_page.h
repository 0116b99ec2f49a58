#pragma once

#include "app/gui/inspector/page.h"

namespace workbench::gui {

/// A node of the traced graph: what it reads and makes, its attributes, weights, source and sites.
class NodePage : public Page {
    Q_OBJECT
public:
    NodePage(NodeId node, const PageContext& context, QWidget* parent);

private:
    void addInputs(const InspectedNode& node);
    void addOutputs(const InspectedNode& node);
    void addSites(const InspectedNode& node);
    void addWeights(const InspectedNode& node);
};

/// "model > layers.0 > self_attn", each part linked.
QString pathLinks(const std::vector<ModuleInfo>& modules);

} // namespace workbench::gui
