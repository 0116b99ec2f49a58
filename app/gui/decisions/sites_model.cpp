#include "app/gui/decisions/sites_model.h"

#include "app/diagram/colours.h"
#include "app/diagram/type_text.h"
#include "app/draw/theme.h"
#include "app/gui/document/qt_text.h"
#include "app/gui/document/state_text.h"
#include "app/session/plan_builder.h"
#include "app/session/site_evidence.h"
#include "app/session/site_list.h"

#include <QtGui/QGuiApplication>
#include <QtGui/QIcon>
#include <QtGui/QPainter>
#include <QtGui/QPalette>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace workbench::gui {
namespace {

const Theme& theme() {
    return QGuiApplication::palette().color(QPalette::Base).lightness() < 128 ? Theme::darkOne()
                                                                              : Theme::light();
}

/// A pattern's colour in a ring of the background's: it stands out from a chosen row, too.
QIcon swatch(const Theme& theme, std::int32_t slot) {
    static std::map<std::pair<const Theme*, std::int32_t>, QIcon> made;
    const auto [place, isNew] = made.try_emplace({&theme, slot});
    if (!isNew)
        return place->second;
    constexpr int kSize = 16, kRing = 2;
    constexpr qreal kSharp = 2; // pixels for each of a screen's
    QPixmap pixmap(QSize(kSize, kSize) * kSharp);
    pixmap.setDevicePixelRatio(kSharp);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const QRectF outside(0, 0, kSize, kSize);
    painter.setBrush(theme.background);
    painter.drawRoundedRect(outside, 4, 4);
    painter.setBrush(theme.slot(slot));
    painter.drawRoundedRect(outside.adjusted(kRing, kRing, -kRing, -kRing), 3, 3);
    return place->second = QIcon(pixmap);
}

std::vector<std::size_t> ranksOf(const std::vector<Site>& sites) {
    std::vector<std::size_t> order(sites.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
        return std::string_view(sites[i].id).substr(sites[i].pattern.size());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return precedes(key(a), key(b)); });
    std::vector<std::size_t> ranks(sites.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        ranks[order[i]] = i;
    return ranks;
}

} // namespace

SitesModel::SitesModel(Document& document, QObject* parent)
    : QAbstractTableModel(parent), m_document(document), m_placeRank(ranksOf(document.analysis().sites)) {
    const std::vector<Site>& sites = document.analysis().sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
        m_rowOf.emplace(sites[i].id, i);
    m_reasons.resize(sites.size());
    const auto decided = [this] {
        m_reasons.assign(m_reasons.size(), std::nullopt);
        changed(kPattern, kReason);
    };
    connect(&document, &Document::decisionsChanged, this, decided);
    connect(&document, &Document::rewrittenChanged, this, decided);
    connect(&document, &Document::proofsChanged, this, [this] { changed(kError, kError); });
    connect(&document, &Document::measuredChanged, this, [this] { changed(kGain, kGain); });
}

void SitesModel::changed(int first, int last) {
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, first), index(rowCount() - 1, last));
}

int SitesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_placeRank.size());
}

int SitesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

const Site& SitesModel::site(int row) const {
    return m_document.analysis().sites[static_cast<std::size_t>(row)];
}

SiteOutcome::State SitesModel::state(int row) const {
    return m_document.outcome(static_cast<std::size_t>(row)).state;
}

const QString& SitesModel::reason(int row) const {
    const auto index = static_cast<std::size_t>(row);
    std::optional<QString>& kept = m_reasons[index];
    if (!kept)
        kept = qt(stateReason(m_document.graph(), site(row), m_document.outcome(index),
                              m_document.note(index).toStdString()));
    return *kept;
}

std::optional<std::size_t> SitesModel::other(int row) const {
    const auto found = m_rowOf.find(m_document.outcome(static_cast<std::size_t>(row)).with);
    return found == m_rowOf.end() ? std::nullopt : std::optional(found->second);
}

const SiteGain* SitesModel::estimate(int row) const {
    const auto index = static_cast<std::size_t>(row);
    return index < m_estimates.size() && m_estimates[index] ? &*m_estimates[index] : nullptr;
}

void SitesModel::setEstimates(std::vector<std::optional<SiteGain>> estimates, int tokens) {
    m_estimates = std::move(estimates);
    m_tokens = tokens;
    changed(kBytes, kBytes);
    Q_EMIT headerDataChanged(Qt::Horizontal, kBytes, kBytes);
}

std::optional<double> SitesModel::number(int row, int column) const {
    const auto index = static_cast<std::size_t>(row);
    if (column == kBytes) {
        const SiteGain* gain = estimate(row);
        return gain ? std::optional(static_cast<double>(gain->bytesSaved())) : std::nullopt;
    }
    if (column == kGain) {
        const SpeedGain* gain = m_document.gain(index);
        return gain ? std::optional(gain->percent) : std::nullopt;
    }
    const PlanProof* proof = m_document.proof(index);
    return proof ? std::optional(proof->relativeError) : std::nullopt;
}

QString SitesModel::text(int row, int column) const {
    const auto index = static_cast<std::size_t>(row);
    switch (column) {
    case kPattern:
        return qt(site(row).pattern);
    case kPlace: {
        const std::string_view id = site(row).id;
        return qt(id.substr(std::min(id.size(), site(row).pattern.size() + 1)));
    }
    case kState:
        return stateText(state(row));
    case kReason:
        return reason(row);
    case kBytes: {
        const SiteGain* gain = estimate(row);
        return gain ? qt(bytesText(static_cast<double>(gain->bytesSaved()))) : QString();
    }
    case kGain: {
        const SpeedGain* gain = m_document.gain(index);
        return gain ? QString::asprintf("%+.1f %%", gain->percent) : QString();
    }
    default: {
        const PlanProof* proof = m_document.proof(index);
        if (!proof)
            return {};
        // A mark as well as a colour: not everybody tells the colours apart.
        return QString(QChar(proof->passed ? 0x2713 : 0x2717)) + ' ' +
               QString::asprintf("%.1e", proof->relativeError);
    }
    }
}

QString SitesModel::toolTip(int row, int column) const {
    const auto index = static_cast<std::size_t>(row);
    if (column == kBytes && estimate(row))
        return tr("%1 of %2 bytes of traffic and %3 of %4 launches less, for %n tokens; an estimate from "
                  "shapes",
                  nullptr, m_tokens)
            .arg(estimate(row)->bytesSaved())
            .arg(estimate(row)->before.bytes)
            .arg(estimate(row)->launchesSaved())
            .arg(estimate(row)->before.launches);
    if (column == kGain && m_document.gain(index))
        return tr("share of the pattern's measured gain in tokens per second: %1")
            .arg(qt(speedText(*m_document.gain(index))));
    if (column == kError && m_document.proof(index))
        return qt(proofText(*m_document.proof(index)));
    if (column == kReason)
        return reason(row);
    return qt(site(row).id);
}

QVariant SitesModel::colour(int row, int column) const {
    const Theme& colours = theme();
    if (column == kError) {
        const PlanProof* proof = m_document.proof(static_cast<std::size_t>(row));
        return proof ? QVariant(proof->passed ? colours.added : colours.removed) : QVariant();
    }
    const SiteOutcome::State shown = state(row);
    if (column == kState && shown == SiteOutcome::State::conflicts)
        return colours.removed;
    const bool settled = shown == SiteOutcome::State::refused || shown == SiteOutcome::State::present;
    return settled && column != kPattern ? QVariant(colours.mutedText) : QVariant();
}

QVariant SitesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const int row = index.row(), column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(row, column);
    case Qt::ToolTipRole:
        return toolTip(row, column);
    case Qt::ForegroundRole:
        return colour(row, column);
    case Qt::DecorationRole:
        return column == kPattern ? QVariant(swatch(theme(), colourSlot(site(row).pattern))) : QVariant();
    case Qt::CheckStateRole:
        if (column != kPattern || site(row).verdict != SiteVerdict::applicable)
            return {};
        return m_document.decision(static_cast<std::size_t>(row)) == Decision::apply ? Qt::Checked
                                                                                     : Qt::Unchecked;
    case Qt::TextAlignmentRole:
        return column >= kBytes ? QVariant(int(Qt::AlignRight | Qt::AlignVCenter)) : QVariant();
    case Qt::AccessibleTextRole:
        return column == kPattern ? tr("%1, %2").arg(text(row, kPattern), text(row, kState))
                                  : text(row, column);
    default:
        return {};
    }
}

bool SitesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || role != Qt::CheckStateRole || !(flags(index) & Qt::ItemIsUserCheckable))
        return false;
    const bool apply = value.toInt() == Qt::Checked;
    const QString id = qt(site(index.row()).id);
    m_document.apply({static_cast<std::size_t>(index.row())}, apply ? Decision::apply : Decision::undecided,
                     apply ? tr("apply %1").arg(id) : tr("take back %1").arg(id));
    return true;
}

QVariant SitesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumns)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section >= kBytes ? int(Qt::AlignRight | Qt::AlignVCenter)
                                 : int(Qt::AlignLeft | Qt::AlignVCenter);
    const QString titles[kColumns] = {tr("Pattern"), tr("Place"), tr("Verdict"), tr("Reason"),
                                      tr("Saved"),   tr("Gain"),  tr("Error")};
    const QString tips[kColumns] = {
        tr("Checked: the rewrite is applied"),
        tr("Module where the pattern stands"),
        tr("What became of it under the decisions"),
        tr("Why: the condition that failed, the rewrite that takes its place, your note"),
        tr("Traffic saved: bytes that need not be read or written for %n tokens, estimated from shapes",
           nullptr, m_tokens),
        tr("Measured: tokens per second with this rewrite against without it"),
        tr("Largest error against the original, relative to its largest value; from Verify")};
    if (role == Qt::DisplayRole)
        return titles[section];
    return role == Qt::ToolTipRole ? QVariant(tips[section]) : QVariant();
}

Qt::ItemFlags SitesModel::flags(const QModelIndex& index) const {
    if (!index.isValid())
        return Qt::NoItemFlags;
    Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
    if (index.column() == kPattern && site(index.row()).verdict == SiteVerdict::applicable)
        flags |= Qt::ItemIsUserCheckable;
    return flags;
}

bool SitesModel::precedes(int column, int a, int b) const {
    if (column == kPattern && site(a).pattern != site(b).pattern)
        return colourSlot(site(a).pattern) < colourSlot(site(b).pattern);
    if (column == kState && state(a) != state(b))
        return state(a) < state(b);
    if (column >= kBytes) {
        const auto first = number(a, column), second = number(b, column);
        if (first != second)
            return first.value_or(-HUGE_VAL) < second.value_or(-HUGE_VAL);
    }
    if (column == kReason)
        if (const int order = QString::compare(reason(a), reason(b)); order != 0)
            return order < 0;
    return m_placeRank[static_cast<std::size_t>(a)] < m_placeRank[static_cast<std::size_t>(b)];
}

} // namespace workbench::gui
