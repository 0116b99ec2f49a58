#include "app/gui/measure/step_model.h"

namespace workbench::gui {
namespace {

constexpr std::size_t kMostInTip = 40;

} // namespace

void StepModel::start(std::vector<std::string> sites) {
    beginResetModel();
    m_sites = std::move(sites);
    m_steps.clear();
    endResetModel();
}

void StepModel::add(const BisectStep& step) {
    const int row = rowCount();
    beginInsertRows({}, row, row);
    m_steps.push_back(step);
    endInsertRows();
}

int StepModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_steps.size());
}

int StepModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

/// All names, one a line, or the first and the last.
QString StepModel::sitesText(const BisectStep& step, bool all) const {
    const auto name = [this](std::size_t index) {
        return index < m_sites.size() ? QString::fromStdString(m_sites[index]) : QString();
    };
    if (step.on.empty())
        return {};
    if (!all)
        return step.on.size() == 1 ? name(step.on.front())
                                   : tr("%1 … %2", "first and last of a list")
                                         .arg(name(step.on.front()), name(step.on.back()));
    QStringList lines;
    for (const std::size_t index : step.on) {
        if (static_cast<std::size_t>(lines.size()) == kMostInTip)
            return lines.join("\n") + "\n…";
        lines << name(index);
    }
    return lines.join("\n");
}

QVariant StepModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const BisectStep& step = m_steps[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole)
        return index.column() == applied ? sitesText(step, true) : QString::fromStdString(step.found);
    if (role == Qt::TextAlignmentRole && index.column() == count)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case result:
        return step.wrong ? tr("wrong") : tr("fine");
    case count:
        return static_cast<qulonglong>(step.on.size());
    case applied:
        return sitesText(step, false);
    case found:
        return QString::fromStdString(step.found);
    default:
        return {};
    }
}

QVariant StepModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Vertical)
        return section + 1;
    switch (section) {
    case result:
        return tr("Result");
    case count:
        return tr("Sites");
    case applied:
        return tr("Applied alone");
    case found:
        return tr("Found");
    default:
        return {};
    }
}

} // namespace workbench::gui
