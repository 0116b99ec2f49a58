#include "app/gui/overview/left_model.h"

namespace workbench::gui {

void LeftModel::setGroups(std::vector<SiteGroup> groups) {
    beginResetModel();
    m_groups = std::move(groups);
    endResetModel();
}

int LeftModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_groups.size());
}

int LeftModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant LeftModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const SiteGroup& group = m_groups[static_cast<std::size_t>(index.row())];
    const QString name = QString::fromStdString(group.name);
    const QString reason = QString::fromStdString(group.reason);
    if (role == pattern)
        return name.section('@', 0, 0);
    if (role == Qt::AccessibleTextRole)
        return tr("%1 places of %2, %3: %4")
            .arg(group.sites.size())
            .arg(name, QString::fromStdString(group.state), reason);
    if (role == Qt::ToolTipRole)
        return QString("%1\n%2\n%3").arg(name, QString::fromStdString(group.state), reason).trimmed();
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case what:
        return group.sites.size() > 1 ? tr("%1  ×%2").arg(name).arg(group.sites.size()) : name;
    case state:
        return group.state == "applicable" ? tr("not decided") : QString::fromStdString(group.state);
    case why:
        return reason;
    default:
        return {};
    }
}

QVariant LeftModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    const QString titles[columns] = {tr("What is left"), tr("State"), tr("Why")};
    return section >= 0 && section < columns ? titles[section] : QString();
}

} // namespace workbench::gui
