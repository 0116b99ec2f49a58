#pragma once

#include "app/session/bench_report.h"

#include <QtCore/QAbstractTableModel>

#include <optional>
#include <vector>

namespace workbench::gui {

/// Speeds and latencies of a measurement: a row each, before, after and what changed; hand-written code
/// and transformers too where they were measured.
class ResultModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { before, after, change, native, againstNative, eager, againstEager };
    static constexpr int kSpeedRows = 3; ///< prefill, decode, output; latencies follow

    explicit ResultModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setReport(const BenchReport& report);
    void clear();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    static std::vector<Column> columnsOf(const BenchReport& report);
    const BenchProgram* program(Column column) const;
    void takeReport(const BenchReport& report);
    QString text(int row, Column column) const;
    QString comparisonText(int row, const BenchProgram& first, const BenchProgram& second) const;

    std::optional<BenchReport> m_report;
    std::vector<Column> m_columns; ///< those that are shown
    std::vector<QString> m_texts;  ///< of all cells, row by row: computed once, painted often
};

} // namespace workbench::gui
