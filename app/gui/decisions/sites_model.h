#pragma once

#include "app/gui/document/document.h"
#include "fusion/rewrite/gain.h"

#include <QtCore/QAbstractTableModel>
#include <QtGui/QColor>

#include <map>
#include <optional>
#include <vector>

namespace workbench::gui {

/// Every site of the analysis as a row, in its order: the row is the site's index. The first column is
/// checked where the user decided to apply; checking and unchecking decides.
class SitesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kPattern, kPlace, kState, kReason, kBytes, kGain, kError, kColumns };

    SitesModel(Document& document, QObject* parent);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    const Site& site(int row) const;
    SiteOutcome::State state(int row) const;
    const QString& reason(int row) const;
    /// The site that this one is inside of or conflicts with; nullopt: none.
    std::optional<std::size_t> other(int row) const;
    /// Order of two rows by a column; a row without a number counts as less than any.
    bool precedes(int column, int a, int b) const;

    /// Parallel to the sites; empty: not known yet.
    void setEstimates(std::vector<std::optional<SiteGain>> estimates, int tokens);
    const SiteGain* estimate(int row) const; ///< nullptr: none
    int tokens() const { return m_tokens; }

private:
    QString text(int row, int column) const;
    QString toolTip(int row, int column) const;
    QVariant colour(int row, int column) const;
    std::optional<double> number(int row, int column) const;
    void changed(int first, int last);

    Document& m_document;
    std::map<std::string_view, std::size_t> m_rowOf;       ///< by site id
    std::vector<std::size_t> m_placeRank;                  ///< by row
    mutable std::vector<std::optional<QString>> m_reasons; ///< by row: those that were asked for
    std::vector<std::optional<SiteGain>> m_estimates;
    int m_tokens = 1;
};

} // namespace workbench::gui
