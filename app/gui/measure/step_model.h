#pragma once

#include "app/session/bisect_session.h"

#include <QtCore/QAbstractTableModel>

#include <string>
#include <vector>

namespace workbench::gui {

/// The tries of a bisection as they come.
class StepModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { result, count, applied, found, columns };

    explicit StepModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void start(std::vector<std::string> sites); ///< of the session, in the order of the steps' indices
    void add(const BisectStep& step);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString sitesText(const BisectStep& step, bool all) const;

    std::vector<std::string> m_sites;
    std::vector<BisectStep> m_steps;
};

} // namespace workbench::gui
