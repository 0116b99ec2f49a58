#pragma once

#include "app/gui/decisions/sites_filter.h"

#include <QtWidgets/QStyledItemDelegate>

namespace workbench::gui {

/// Draws the reason of a site that another one stands in for as the link that it is.
class ReasonDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    ReasonDelegate(const SitesModel& model, const SitesFilter& filter, QObject* parent)
        : QStyledItemDelegate(parent), m_model(model), m_filter(filter) {}

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    const SitesModel& m_model;
    const SitesFilter& m_filter;
};

} // namespace workbench::gui
