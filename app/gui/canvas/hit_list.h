#pragma once

#include "app/diagram/search.h"

#include <QtCore/QAbstractTableModel>
#include <QtWidgets/QTreeView>

namespace workbench::gui {

/// Hits of a search as rows: what was found, and where.
class HitsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kName, kContext, kColumns };
    using QAbstractTableModel::QAbstractTableModel;

    void setHits(std::vector<SearchHit> hits);
    const std::vector<SearchHit>& hits() const { return m_hits; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<SearchHit> m_hits;
};

/// A few rows below the search bar; gone while there is no hit. The keyboard stays in the bar unless it is
/// taken here.
class HitList : public QTreeView {
    Q_OBJECT
public:
    explicit HitList(HitsModel& hits, QWidget* parent = nullptr);

    void setCurrentHit(int row); ///< -1: none; silent

    QSize sizeHint() const override;

Q_SIGNALS:
    void hitChosen(int row); ///< by mouse or keyboard
    void left();             ///< Esc

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    HitsModel& m_model;
};

} // namespace workbench::gui
