#pragma once

#include "app/session/overview.h"
#include "core/graph/module_tree.h"

#include <QtCore/QAbstractItemModel>

#include <unordered_map>

namespace workbench::gui {

/// The module tree, repeated modules folded into one row.
class ModuleModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { name, fused, size, className, columns };
    /// `tree` must live as long.
    explicit ModuleModel(const ModuleTree& tree, QObject* parent = nullptr);

    void setFusion(const Overview& overview);
    std::string pathOf(const QModelIndex& index) const; ///< of the first of the folded ones
    /// The row that stands for a path or for its nearest ancestor that has one.
    QModelIndex indexOf(std::string_view path) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Place {
        const ModuleTree* parent = nullptr;
        int row = 0;
        bool isOdd = false; ///< its siblings are mostly of another kind
    };
    void learn(const ModuleTree& module);
    const ModuleTree& moduleAt(const QModelIndex& index) const;
    QString nameOf(const ModuleTree& module) const;
    QString tipOf(const ModuleTree& module) const;
    ModuleFusion fusionOf(const ModuleTree& module) const;

    const ModuleTree& m_root;
    std::unordered_map<const ModuleTree*, Place> m_places;
    std::unordered_map<const ModuleTree*, ModuleFusion> m_fusion;
    std::map<std::string, const ModuleTree*, std::less<>> m_byPath;
};

} // namespace workbench::gui
