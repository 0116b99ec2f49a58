#include "app/gui/measure/result_model.h"

#include <QtCore/QLocale>

#include <array>
#include <cmath>

namespace workbench::gui {
namespace {

constexpr std::array<Quantity, ResultModel::kSpeedRows> kQuantities = {Quantity::prefill, Quantity::decode,
                                                                       Quantity::output};
constexpr std::array<double Latency::*, 7> kLatencies = {
    &Latency::firstToken, &Latency::firstTokenP90, &Latency::firstTokenP99,
    &Latency::p50,        &Latency::p90,           &Latency::p99,
    &Latency::max};

QString number(double value) {
    const double size = std::abs(value);
    return QLocale().toString(value, 'f', size < 10 ? 2 : size < 1000 ? 1 : 0);
}

QString speedText(const BenchProgram& program, Quantity quantity) {
    if (program.rounds.empty())
        return {};
    const Spread spread = spreadOf(speeds(program, quantity));
    if (!(spread.max > 0)) // the load has no such tokens
        return ResultModel::tr("none");
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
    static const std::array<const char*, ResultModel::kSpeedRows + kLatencies.size()> kNames = {
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Prompt, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Decode, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Whole answer, tokens/s"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "First token p50, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "First token p90, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "First token p99, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p50, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p90, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Later token p99, ms"),
        QT_TRANSLATE_NOOP("workbench::gui::ResultModel", "Slowest token, ms")};
    return ResultModel::tr(kNames[static_cast<std::size_t>(row)]);
}

} // namespace

void ResultModel::setReport(const BenchReport& report) {
    const bool sameShape = m_report && m_columns == columnsOf(report);
    if (!sameShape) {
        beginResetModel();
        takeReport(report);
        endResetModel();
        return;
    }
    takeReport(report);
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void ResultModel::takeReport(const BenchReport& report) {
    m_report = report;
    m_columns = columnsOf(report);
    m_texts.clear();
    for (int row = 0; row < rowCount(); ++row)
        for (const Column column : m_columns)
            m_texts.push_back(text(row, column));
}

void ResultModel::clear() {
    beginResetModel();
    m_report.reset();
    m_columns.clear();
    endResetModel();
}

int ResultModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_report ? 0 : kSpeedRows + static_cast<int>(kLatencies.size());
}

int ResultModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_report ? static_cast<int>(m_columns.size()) : native;
}

std::vector<ResultModel::Column> ResultModel::columnsOf(const BenchReport& report) {
    std::vector<Column> shown = {before, after, change};
    if (report.native)
        shown.insert(shown.end(), {native, againstNative});
    if (report.eager)
        shown.insert(shown.end(), {eager, againstEager});
    return shown;
}

/// nullptr: the column compares two.
const BenchProgram* ResultModel::program(Column column) const {
    switch (column) {
    case before:
        return &m_report->before;
    case after:
        return &m_report->after;
    case native:
        return &*m_report->native;
    case eager:
        return &*m_report->eager;
    default:
        return nullptr;
    }
}

QString ResultModel::comparisonText(int row, const BenchProgram& first, const BenchProgram& second) const {
    if (row < kSpeedRows)
        return changeText(workbench::compare(first, second, kQuantities[static_cast<std::size_t>(row)]));
    const auto latency = kLatencies[static_cast<std::size_t>(row - kSpeedRows)];
    const double ratio = second.latency.*latency / first.latency.*latency;
    const bool known = !first.rounds.empty() && !second.rounds.empty() && std::isfinite(ratio);
    return known ? tr("%1×").arg(QLocale().toString(ratio, 'f', 2)) : QString();
}

QString ResultModel::text(int row, Column column) const {
    const BenchProgram* of = program(column);
    if (!of)
        return comparisonText(row,
                              *program(column == change          ? before
                                       : column == againstNative ? native
                                                                 : eager),
                              m_report->after);
    if (row < kSpeedRows)
        return speedText(*of, kQuantities[static_cast<std::size_t>(row)]);
    if (of->rounds.empty())
        return {};
    const double ms = of->latency.*kLatencies[static_cast<std::size_t>(row - kSpeedRows)];
    return std::isfinite(ms) ? number(ms) : tr("none");
}

QVariant ResultModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_report)
        return {};
    if (role == Qt::DisplayRole)
        return m_texts[static_cast<std::size_t>(index.row() * columnCount() + index.column())];
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
    const auto at = static_cast<std::size_t>(section);
    switch (at < m_columns.size() ? m_columns[at] : static_cast<Column>(section)) {
    case before:
        return tr("Before");
    case after:
        return tr("After");
    case change:
        return tr("Change");
    case native:
        return tr("Hand-written");
    case againstNative:
        return tr("After against hand-written");
    case eager:
        return tr("Transformers");
    case againstEager:
        return tr("After against transformers");
    default:
        return {};
    }
}

} // namespace workbench::gui
