#pragma once

#include "core/graph/graph.h"

#include <QtCore/QObject>

#include <optional>
#include <string>

namespace workbench::gui {

/// What all panels of a tab show. Choosing one kind of thing drops the others: a site, else a node, else a
/// module ("" is the whole model).
class Selection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    const std::string& module() const { return m_module; } ///< path; of the node or site when one is chosen
    NodeId node() const { return m_node; }                 ///< of the canonical graph; kNone: none
    const std::optional<std::size_t>& site() const { return m_site; } ///< index into Analysis::sites

    void selectModule(const std::string& path);
    /// `module`: its path in the graph.
    void selectNode(NodeId node, const std::string& module);
    void selectSite(std::size_t site, const std::string& module);
    void clear() { selectModule({}); }
    /// "Show it": a double click. The canvas opens and centres what is chosen.
    void reveal() { Q_EMIT revealRequested(); }

Q_SIGNALS:
    void changed();
    void revealRequested();

private:
    void set(std::string module, NodeId node, std::optional<std::size_t> site);

    std::string m_module;
    NodeId m_node = kNone;
    std::optional<std::size_t> m_site;
};

} // namespace workbench::gui
