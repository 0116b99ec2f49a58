#pragma once

#include "app/session/site_groups.h"

#include <QtCore/QAbstractTableModel>

namespace workbench::gui {

/// What is not fused, and why: sites that differ in nothing but their layer are one row.
class LeftModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    enum Column { what, state, why, columns };
    enum Role { pattern = Qt::UserRole };

    void setGroups(std::vector<SiteGroup> groups);
    std::size_t firstSite(int row) const { return m_groups[static_cast<std::size_t>(row)].sites.front(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<SiteGroup> m_groups;
};

} // namespace workbench::gui
