#pragma once

#include <QtCore/QAbstractTableModel>

#include <nlohmann/json.hpp>

#include <map>
#include <vector>

namespace workbench::gui {

/// Where the time of a program's step goes, in milliseconds.
struct OperatorTimes {
    QString program; ///< "before", "after", "native"
    double step = 0;
    double outsideModel = 0;            ///< scheduling, sampling
    double outsideKernels = 0;          ///< of the whole step: in no kernel of ours; NaN: unknown
    std::map<QString, double> families; ///< by kind of operator
};

/// Of a report's "profile" {program: {"steps", "step_s", "model_s", "kernels", "families"}}, which another
/// version's worker may have written: what makes no sense is left out.
std::vector<OperatorTimes> operatorTimes(const nlohmann::json& profile);

/// A row for the step, each kind of operator (the longest first) and what is outside; a column a program.
class OperatorTimesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit OperatorTimesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setTimes(std::vector<OperatorTimes> times);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString name;
        std::vector<double> ms; ///< of each program; NaN: it has none
    };
    void addRow(const QString& name, double (*value)(const OperatorTimes&));
    void addFamilies();

    std::vector<OperatorTimes> m_times;
    std::vector<Row> m_rows;
};

/// "before" -> "Before": the columns of the panel's tables.
QString programTitle(const QString& program);

} // namespace workbench::gui
