#include "app/gui/document/selection.h"

namespace workbench::gui {

void Selection::selectModule(const std::string& path) {
    set(path, kNone, std::nullopt);
}

void Selection::selectNode(NodeId node, const std::string& module) {
    set(module, node, std::nullopt);
}

void Selection::selectSite(std::size_t site, const std::string& module) {
    set(module, kNone, site);
}

void Selection::set(std::string module, NodeId node, std::optional<std::size_t> site) {
    if (module == m_module && node == m_node && site == m_site)
        return;
    m_module = std::move(module);
    m_node = node;
    m_site = site;
    Q_EMIT changed();
}

} // namespace workbench::gui
