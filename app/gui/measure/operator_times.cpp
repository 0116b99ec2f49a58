#include "app/gui/measure/operator_times.h"

#include <QtCore/QLocale>

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench::gui {
namespace {

using nlohmann::json;

constexpr double kLeastMs = 0.0005; ///< below, every program has "0.000"
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double numberOr(const json& object, const char* key, double absent) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : absent;
}

/// Seconds by name, as milliseconds a step.
std::map<QString, double> perStep(const json& profile, const char* key, double steps) {
    std::map<QString, double> parts;
    const auto found = profile.find(key);
    if (found != profile.end() && found->is_object())
        for (const auto& [name, seconds] : found->items())
            if (seconds.is_number())
                parts[QString::fromStdString(name)] = 1000 * seconds.get<double>() / steps;
    return parts;
}

double sumOf(const std::map<QString, double>& parts) {
    double sum = 0;
    for (const auto& [name, ms] : parts)
        sum += ms;
    return sum;
}

} // namespace

std::vector<OperatorTimes> operatorTimes(const json& profile) {
    std::vector<OperatorTimes> all;
    if (!profile.is_object())
        return all;
    for (const char* program : {"before", "after", "native"}) {
        const auto found = profile.find(program);
        if (found == profile.end() || !found->is_object())
            continue;
        const double steps = numberOr(*found, "steps", 0);
        const double step = numberOr(*found, "step_s", 0);
        if (!(steps > 0) || !(step > 0))
            continue;
        const double stepMs = 1000 * step / steps;
        const auto kernels = perStep(*found, "kernels", steps);
        auto families = perStep(*found, "families", steps);
        all.push_back({program, stepMs, stepMs - 1000 * numberOr(*found, "model_s", step) / steps,
                       kernels.empty() ? kNone : stepMs - sumOf(kernels),
                       families.empty() ? kernels : std::move(families)});
    }
    return all;
}

void OperatorTimesModel::setTimes(std::vector<OperatorTimes> times) {
    beginResetModel();
    m_times = std::move(times);
    m_rows.clear();
    if (!m_times.empty()) {
        addRow(tr("Whole step"), [](const OperatorTimes& of) { return of.step; });
        addFamilies();
        addRow(tr("Outside of the model"), [](const OperatorTimes& of) { return of.outsideModel; });
        addRow(tr("Outside of our kernels"), [](const OperatorTimes& of) { return of.outsideKernels; });
    }
    endResetModel();
}

void OperatorTimesModel::addRow(const QString& name, double (*value)(const OperatorTimes&)) {
    Row row{name, {}};
    for (const OperatorTimes& of : m_times)
        row.ms.push_back(value(of));
    m_rows.push_back(std::move(row));
}

void OperatorTimesModel::addFamilies() {
    std::map<QString, double> longest;
    for (const OperatorTimes& of : m_times)
        for (const auto& [name, ms] : of.families)
            longest[name] = std::max(longest[name], ms);
    std::vector<std::pair<double, QString>> order;
    for (const auto& [name, ms] : longest)
        if (ms >= kLeastMs)
            order.emplace_back(-ms, name);
    std::sort(order.begin(), order.end());
    for (const auto& [ms, name] : order) {
        Row row{name, {}};
        for (const OperatorTimes& of : m_times) {
            const auto found = of.families.find(name);
            row.ms.push_back(found == of.families.end() ? kNone : found->second);
        }
        m_rows.push_back(std::move(row));
    }
}

int OperatorTimesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int OperatorTimesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_times.size());
}

QVariant OperatorTimesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const double ms =
        m_rows[static_cast<std::size_t>(index.row())].ms[static_cast<std::size_t>(index.column())];
    if (role == Qt::DisplayRole)
        return std::isnan(ms) ? QString() : tr("%1 ms").arg(QLocale().toString(ms, 'f', 3));
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant OperatorTimesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole)
        return QVariant((orientation == Qt::Horizontal ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const auto at = static_cast<std::size_t>(section);
    return orientation == Qt::Vertical ? m_rows[at].name : programTitle(m_times[at].program);
}

QString programTitle(const QString& program) {
    return program == "before"  ? OperatorTimesModel::tr("Before")
           : program == "after" ? OperatorTimesModel::tr("After")
                                : OperatorTimesModel::tr("Hand-written");
}

} // namespace workbench::gui
