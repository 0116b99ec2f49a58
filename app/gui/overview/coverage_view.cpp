#include "app/gui/overview/coverage_view.h"

#include "app/gui/document/qt_text.h"

#include <QtGui/QPainter>
#include <QtWidgets/QApplication>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kMargin = 4;
constexpr int kBar = 5;        // height
constexpr int kNarrowest = 80; // names are cut there

struct BarColours {
    QColor track, found, done;
};

BarColours coloursOf(const QPalette& palette) {
    const bool dark = palette.color(QPalette::Base).lightness() < 128;
    if (dark)
        return {0x363d47, 0x2c5a8f, 0x5aa9ff};
    return {0xe2e6eb, 0xa9cbf3, 0x1f63c8};
}

} // namespace

void CoverageModel::setPatterns(std::vector<PatternSummary> patterns) {
    const bool same = patterns.size() == m_patterns.size();
    if (!same)
        beginResetModel();
    m_patterns = std::move(patterns);
    if (!same)
        endResetModel();
    else if (!m_patterns.empty())
        Q_EMIT dataChanged(index(0), index(static_cast<int>(m_patterns.size()) - 1));
}

int CoverageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_patterns.size());
}

QVariant CoverageModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const PatternSummary& summary = m_patterns[static_cast<std::size_t>(index.row())];
    const QString name = QString::fromStdString(summary.coverage.pattern);
    const qint64 doneCount =
        summary.countOf("applied") + summary.countOf("present") + summary.countOf("contained");
    switch (role) {
    case Qt::DisplayRole:
        return tr("%1 %2/%3").arg(name).arg(summary.coverage.found).arg(summary.coverage.places);
    case Qt::ToolTipRole: {
        QString tip = tr("%1: found in %2 of %3 %4")
                          .arg(name)
                          .arg(summary.coverage.found)
                          .arg(summary.coverage.places)
                          .arg(QString::fromStdString(summary.coverage.counted));
        for (const StateCount& entry : summary.states)
            tip += tr("\n%1 %2").arg(entry.count).arg(qt(entry.state));
        return tip;
    }
    case Qt::AccessibleTextRole:
        return tr("%1, %2 of %3 found, %4 done")
            .arg(name)
            .arg(summary.coverage.found)
            .arg(summary.coverage.places)
            .arg(doneCount);
    case pattern:
        return name;
    case found:
        return QVariant::fromValue<qint64>(summary.coverage.found);
    case done:
        return doneCount;
    case places:
        return QVariant::fromValue<qint64>(summary.coverage.places);
    default:
        return {};
    }
}

QSize CoverageDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {kNarrowest, option.fontMetrics.height() + kBar + 2 * kMargin + 4};
}

void CoverageDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                             const QModelIndex& index) const {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    option.text.clear();
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);
    const bool selected = option.state & QStyle::State_Selected;
    const QRect area = option.rect.adjusted(kMargin + 4, kMargin, -kMargin - 4, -kMargin);
    const QRect text(area.left(), area.top(), area.width(), option.fontMetrics.height());
    const qint64 found = index.data(CoverageModel::found).toLongLong();
    const qint64 done = index.data(CoverageModel::done).toLongLong();
    const qint64 places = std::max(index.data(CoverageModel::places).toLongLong(), qint64{0});

    painter->setPen(option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
    const QString counts = tr("%1/%2").arg(found).arg(places);
    const QString numbers = places > 0 && done == places ? tr("%1 ✓").arg(counts)
                            : done == found              ? counts
                                                         : tr("%1, %2 done").arg(counts).arg(done);
    const int numbersWidth = option.fontMetrics.horizontalAdvance(numbers);
    painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter, numbers);
    painter->drawText(text.adjusted(0, 0, -numbersWidth - kMargin, 0), Qt::AlignLeft | Qt::AlignVCenter,
                      option.fontMetrics.elidedText(index.data(CoverageModel::pattern).toString(),
                                                    Qt::ElideRight, text.width() - numbersWidth - kMargin));

    const BarColours colours = coloursOf(option.palette);
    const QRectF track(area.left(), text.bottom() + 4, area.width(), kBar);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    const auto bar = [&](qint64 count, const QColor& colour) {
        QRectF part = track;
        part.setWidth(places > 0 ? track.width() * static_cast<double>(std::min(count, places)) /
                                       static_cast<double>(places)
                                 : 0);
        painter->setBrush(colour);
        if (part.width() > 0)
            painter->drawRoundedRect(part, kBar / 2.0, kBar / 2.0);
    };
    painter->setBrush(colours.track);
    painter->drawRoundedRect(track, kBar / 2.0, kBar / 2.0);
    bar(found, colours.found);
    bar(done, colours.done);
}

} // namespace workbench::gui
