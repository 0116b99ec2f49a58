#include "app/gui/measure/result_model.h"

#include <QtCore/QLocale>

#include <array>
#include <cmath>

namespace workbench::gui {
namespace {

constexpr std::array<Quantity, ResultModel::kSpeedRows> kQuantities = {Quantity::prefill, Quantity::decode,
                                                                       Quantity::output};
constexpr std::array<double Latency::*, 5> kLatencies = {&Latency::firstToken, &Latency::p50, &Latency::p90,
                                                         &Latency::p99, &Latency::max};

QString number(double value) {
    const double size = std::abs(value);
    return QLocale().toString(value, 'f', size < 10 ? 2 : size < 1000 ? 1 : 0);
}

QString speedText(const BenchProgram& program, Quantity quantity) {
    if (program.rounds.empty())
        return {};
    const Spread spread = spreadOf(speeds(program, quantity));
    return ResultModel::tr("%1 (%2 to %3)")
        .arg(number(spread.median), number(spread.min), number(spread.max));
}

QString verdictText(SpeedVerdict verdict) {
    switch (verdict) {
    case SpeedVerdict::faster:
        return ResultModel::tr("faster");
    case SpeedVerdict::slower:
        return ResultModel::tr("slower");
    case SpeedVerdict::withinSpread:
        return ResultModel::tr("within the spread");
    case SpeedVerdict::tooFewRounds:
        return ResultModel::tr("too few rounds to tell");
    }
    return {};
}

QString changeText(const Comparison& comparison) {
    if (std::isnan(comparison.ratio))
        return {};
    const auto ratio = [](double value) { return QLocale().toString(value, 'f', 2); };
    return ResultModel::tr("%1× (%2 to %3), %4")
        .arg(ratio(comparison.ratio), ratio(comparison.interval.low), ratio(comparison.interval.high),
             verdictText(comparison.verdict));
}

QString rowName(int row) {
    static const std::array<const char*, 8> kNames = {
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Prompt, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Decode, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Whole answer, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "First token, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p50, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p90, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p99, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Slowest token, ms")};
    return ResultModel::tr(kNames[static_cast<std::size_t>(row)]);
}

} // namespace

void ResultModel::setReport(const BenchReport& report) {
    if (!m_report) {
        beginInsertRows({}, 0, kSpeedRows + static_cast<int>(kLatencies.size()) - 1);
        m_report = report;
        endInsertRows();
        return;
    }
    m_report = report;
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
}

void ResultModel::clear() {
    beginResetModel();
    m_report.reset();
    endResetModel();
}

int ResultModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_report ? 0 : kSpeedRows + static_cast<int>(kLatencies.size());
}

int ResultModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QString ResultModel::text(int row, int column) const {
    const BenchProgram& first = m_report->before;
    const BenchProgram& second = m_report->after;
    if (row < kSpeedRows) {
        const Quantity quantity = kQuantities[static_cast<std::size_t>(row)];
        if (column == change)
            return changeText(workbench::compare(first, second, quantity));
        return speedText(column == before ? first : second, quantity);
    }
    const auto latency = kLatencies[static_cast<std::size_t>(row - kSpeedRows)];
    const double a = first.latency.*latency;
    const double b = second.latency.*latency;
    if (column == change)
        return first.rounds.empty() || second.rounds.empty()
                   ? QString()
                   : tr("%1×").arg(QLocale().toString(b / a, 'f', 2));
    return (column == before ? first : second).rounds.empty() ? QString() : number(column == before ? a : b);
}

QVariant ResultModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_report)
        return {};
    if (role == Qt::DisplayRole)
        return text(index.row(), index.column());
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole)
        return QVariant((orientation == Qt::Horizontal ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Vertical)
        return rowName(section);
    return section == before ? tr("Before") : section == after ? tr("After") : tr("Change");
}

} // namespace workbench::gui
