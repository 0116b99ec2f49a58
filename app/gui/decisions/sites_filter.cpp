#include "app/gui/decisions/sites_filter.h"

#include "app/gui/document/state_text.h"

#include <algorithm>

namespace workbench::gui {

SitesFilter::SitesFilter(SitesModel& model, QObject* parent) : QSortFilterProxyModel(parent), m_model(model) {
    setSourceModel(&model);
    // Rows stay where they are while the user decides: sorted when asked for, filtered anew when a verdict or
    // a reason that is filtered by may have changed.
    setDynamicSortFilter(false);
}

void SitesFilter::followDecisions() {
    if (!m_words.isEmpty() || !m_states.empty())
        invalidate();
}

void SitesFilter::setText(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidate();
}

void SitesFilter::setLayers(const LayerRange& layers) {
    m_layers = layers;
    invalidate();
}

void SitesFilter::setStates(std::set<SiteOutcome::State> states) {
    m_states = std::move(states);
    invalidate();
}

bool SitesFilter::inLayers(int row) const {
    return m_layers.holdsAll() || m_layers.holds(layerOf(m_model.site(row).module));
}

bool SitesFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    if (!m_states.empty() && !m_states.contains(m_model.state(row)))
        return false;
    if (!inLayers(row))
        return false;
    if (m_words.isEmpty())
        return true;
    const QString all = QString::fromStdString(m_model.site(row).id) + ' ' + stateText(m_model.state(row)) +
                        ' ' + m_model.reason(row);
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

bool SitesFilter::lessThan(const QModelIndex& a, const QModelIndex& b) const {
    return m_model.precedes(a.column(), a.row(), b.row());
}

} // namespace workbench::gui
