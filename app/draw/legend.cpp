#include "app/draw/measure.h"
#include "app/draw/paint.h"
#include "fusion/match/pattern.h"

#include <QFontMetricsF>
#include <QLinearGradient>

#include <map>
#include <set>

namespace workbench {
namespace {

constexpr double kRow = 22, kSwatch = 12, kColumnGap = 26, kScaleWidth = 120;

QString textOf(const LegendEntry& entry) {
    QStringList counts;
    const auto add = [&](std::int64_t count, const char* what) {
        if (count > 0)
            counts.push_back(QStringLiteral("%1 %2").arg(count).arg(QLatin1String(what)));
    };
    add(entry.applied, "applied");
    add(entry.present, "present");
    add(entry.offered, "offered");
    add(entry.rejected, "rejected");
    add(entry.refused, "refused");
    return QString::fromStdString(entry.pattern) + "  " + counts.join(", ");
}

/// Places the entries in rows; calls `place` with each one's rectangle.
template <typename Place>
QSizeF flow(const Legend& legend, double width, const Place& place) {
    const QFontMetricsF metrics(drawingFont(kTextPixels));
    double x = 0;
    double y = 0;
    double widest = 0;
    const auto put = [&](double wanted, std::size_t index) {
        if (x > 0 && x + wanted > width) {
            x = 0;
            y += kRow;
        }
        place(QRectF(x, y, wanted, kRow), index);
        widest = std::max(widest, x + wanted);
        x += wanted + kColumnGap;
    };
    for (std::size_t i = 0; i < legend.entries.size(); ++i)
        put(kSwatch + 8 + metrics.horizontalAdvance(textOf(legend.entries[i])), i);
    if (!legend.overlay.isEmpty())
        put(kScaleWidth + 24 + metrics.horizontalAdvance(legend.overlay + "0" + legend.overlayEnd),
            legend.entries.size());
    return widest > 0 ? QSizeF(widest, y + kRow) : QSizeF(0, 0);
}

void paintScale(QPainter& painter, const QRectF& row, const Legend& legend, const Theme& theme) {
    const QFontMetricsF metrics(painter.font());
    const QString before = legend.overlay + "  0 ";
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, before);
    const QRectF bar(row.left() + metrics.horizontalAdvance(before), row.center().y() - 5, kScaleWidth, 10);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    for (const double share : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0})
        gradient.setColorAt(share, theme.overlay(std::sqrt(share)));
    painter.setPen(QPen(theme.nodeBorder, 1));
    painter.setBrush(gradient);
    painter.drawRect(bar);
    painter.setPen(theme.text);
    painter.drawText(row.adjusted(bar.right() - row.left() + 6, 0, 40, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     legend.overlayEnd);
}

} // namespace

std::vector<LegendEntry> legendOf(const Diagram& diagram, const std::vector<NodeMark>& marks) {
    std::map<std::int32_t, LegendEntry> entries;
    std::set<std::int32_t> counted;
    const auto all = patterns();
    for (const Box& box : diagram.boxes) {
        if (box.expanded)
            continue; // what is in it counts
        for (const NodeId node : box.nodes) {
            const NodeMark& mark = marks[static_cast<std::size_t>(node)];
            if (mark.slot < 0 || !counted.insert(mark.site).second)
                continue;
            LegendEntry& entry = entries[mark.slot];
            entry.slot = mark.slot;
            entry.pattern = all[static_cast<std::size_t>(mark.slot)].name;
            entry.applied += mark.state == NodeMark::State::applied;
            entry.present += mark.state == NodeMark::State::present;
            entry.offered += mark.state == NodeMark::State::offered;
            entry.rejected += mark.state == NodeMark::State::rejected;
            entry.refused += mark.state == NodeMark::State::refused;
        }
    }
    std::vector<LegendEntry> listed;
    for (auto& [slot, entry] : entries)
        listed.push_back(std::move(entry));
    return listed;
}

QSizeF legendSize(const Legend& legend, double width) {
    return flow(legend, width, [](const QRectF&, std::size_t) {});
}

void paintLegend(QPainter& painter, const QRectF& place, const Legend& legend, const Theme& theme) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(drawingFont(kTextPixels));
    flow(legend, place.width(), [&](const QRectF& rect, std::size_t index) {
        const QRectF row = rect.translated(place.topLeft());
        painter.setPen(theme.text);
        if (index == legend.entries.size()) {
            paintScale(painter, row, legend, theme);
            return;
        }
        const LegendEntry& entry = legend.entries[index];
        painter.drawText(row.adjusted(kSwatch + 8, 0, 10, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         textOf(entry));
        const bool isSolid = entry.applied + entry.present > 0;
        painter.setPen(QPen(theme.slot(entry.slot), 1.4));
        painter.setBrush(isSolid ? QBrush(theme.slot(entry.slot)) : QBrush(Qt::NoBrush));
        painter.drawRoundedRect(QRectF(row.left(), row.center().y() - kSwatch / 2, kSwatch, kSwatch), 3, 3);
    });
    painter.restore();
}

} // namespace workbench
