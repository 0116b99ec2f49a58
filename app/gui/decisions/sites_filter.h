#pragma once

#include "app/gui/decisions/sites_model.h"
#include "app/session/site_list.h"

#include <QtCore/QSortFilterProxyModel>
#include <QtCore/QStringList>

#include <set>

namespace workbench::gui {

/// The rows that are shown, in the order of a column.
class SitesFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    SitesFilter(SitesModel& model, QObject* parent);

    /// All words must occur in pattern, place, verdict or reason.
    void setText(const QString& text);
    void setLayers(const LayerRange& layers);
    /// None: all states are shown.
    void setStates(std::set<SiteOutcome::State> states);
    const std::set<SiteOutcome::State>& states() const { return m_states; }
    /// Shows and hides what the decisions changed.
    void followDecisions();
    /// Is the site's module in the layers that are shown?
    bool inLayers(int row) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;

private:
    SitesModel& m_model;
    QStringList m_words;
    LayerRange m_layers;
    std::set<SiteOutcome::State> m_states;
};

} // namespace workbench::gui
