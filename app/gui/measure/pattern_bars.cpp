#include "app/gui/measure/pattern_bars.h"

#include "app/gui/measure/chart_style.h"

#include <QtCore/QLocale>
#include <QtGui/QPainter>

#include <algorithm>
#include <cmath>

namespace workbench::gui {
namespace {

constexpr double kGap = 8;

double percent(double ratio) {
    return std::isnan(ratio) ? 0 : 100 * (ratio - 1);
}

QString signedPercent(double value) {
    return (value > 0 ? "+" : "") + QLocale().toString(value, 'f', 1) + " %";
}

QString valueText(const Comparison& comparison) {
    if (std::isnan(comparison.ratio))
        return PatternBars::tr("not yet measured");
    return PatternBars::tr("%1 (%2 to %3)")
        .arg(signedPercent(percent(comparison.ratio)), signedPercent(percent(comparison.interval.low)),
             signedPercent(percent(comparison.interval.high)));
}

QString nameText(const PatternBar& bar) {
    return PatternBars::tr("%1 (%n sites)", nullptr, static_cast<int>(bar.sites)).arg(bar.pattern);
}

QColor colourOf(const Comparison& comparison, const ChartColours& colours) {
    switch (comparison.verdict) {
    case SpeedVerdict::faster:
        return colours.faster;
    case SpeedVerdict::slower:
        return colours.slower;
    default:
        return colours.unclear;
    }
}

double reach(const std::vector<PatternBar>& bars) {
    double most = 1; // percent: noise must not look like a mountain
    for (const PatternBar& bar : bars)
        for (const double ratio : {bar.comparison.interval.low, bar.comparison.interval.high})
            most = std::max(most, std::abs(percent(ratio)));
    return most;
}

/// The columns of all rows.
struct Columns {
    QRectF names;
    QRectF bars;
    QRectF values;
    double reach = 1; ///< percent at either end of the bars
    double x(double value) const { return bars.center().x() + bars.width() / 2 * value / reach; }
};

Columns columnsFor(const std::vector<PatternBar>& bars, const QFontMetricsF& metrics, const QSizeF& size) {
    double names = 0;
    double values = 0;
    for (const PatternBar& bar : bars) {
        names = std::max(names, metrics.horizontalAdvance(nameText(bar)));
        values = std::max(values, metrics.horizontalAdvance(valueText(bar.comparison)));
    }
    names = std::min(names, size.width() / 3);
    const double left = names + 3 * kGap;
    return {QRectF(kGap, 0, names, size.height()),
            QRectF(left, 0, std::max(20.0, size.width() - left - values - 3 * kGap), size.height()),
            QRectF(size.width() - values - kGap, 0, values, size.height()), reach(bars)};
}

void drawRow(QPainter& painter, const PatternBar& bar, const Columns& columns, double top, double height,
             const ChartColours& colours) {
    const auto row = [&](const QRectF& column) { return QRectF(column.left(), top, column.width(), height); };
    const Comparison& comparison = bar.comparison;
    painter.setPen(colours.text);
    painter.drawText(
        row(columns.names), Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetricsF(painter.font()).elidedText(nameText(bar), Qt::ElideRight, columns.names.width()));
    painter.setPen(colourOf(comparison, colours));
    painter.drawText(row(columns.values), Qt::AlignRight | Qt::AlignVCenter, valueText(comparison));
    if (std::isnan(comparison.ratio))
        return;
    const double zero = columns.x(0);
    const double end = columns.x(percent(comparison.ratio));
    painter.fillRect(QRectF(std::min(zero, end), top + height * 0.22, std::abs(end - zero), height * 0.56),
                     colourOf(comparison, colours));
    const double low = columns.x(percent(comparison.interval.low));
    const double high = columns.x(percent(comparison.interval.high));
    const double middle = top + height / 2;
    painter.setPen(QPen(colours.text, 1.2));
    painter.drawLine(QPointF(low, middle), QPointF(high, middle));
    for (const double x : {low, high})
        painter.drawLine(QPointF(x, middle - 4), QPointF(x, middle + 4));
}

} // namespace

PatternBars::PatternBars(QWidget* parent) : QWidget(parent) {
    setObjectName("patternBars");
    setAccessibleName(tr("What each pattern is worth"));
}

void PatternBars::setBars(std::vector<PatternBar> bars) {
    m_bars = std::move(bars);
    QStringList lines;
    for (const PatternBar& bar : m_bars)
        lines << nameText(bar) + ": " + valueText(bar.comparison);
    setAccessibleDescription(lines.join("\n"));
    updateGeometry();
    update();
}

void PatternBars::setHint(const QString& hint) {
    m_hint = hint;
    update();
}

double PatternBars::rowHeight() const {
    return QFontMetricsF(font()).height() + 10;
}

QSize PatternBars::sizeHint() const {
    return {420, static_cast<int>(rowHeight() * std::max<double>(4, static_cast<double>(m_bars.size())) +
                                  2 * kGap)};
}

QSize PatternBars::minimumSizeHint() const {
    return {260, m_bars.empty() ? 80 : sizeHint().height()};
}

void PatternBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const ChartColours colours = chartColours(palette());
    painter.fillRect(rect(), palette().base());
    if (m_bars.empty()) {
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(rect()).adjusted(24, 12, -24, -12), Qt::AlignCenter | Qt::TextWordWrap,
                         m_hint);
        return;
    }
    const Columns columns = columnsFor(m_bars, QFontMetricsF(font()), QSizeF(size()));
    const double bottom = kGap + rowHeight() * static_cast<double>(m_bars.size());
    painter.setPen(colours.mutedText);
    painter.drawLine(QPointF(columns.x(0), kGap), QPointF(columns.x(0), bottom));
    double top = kGap;
    for (const PatternBar& bar : m_bars) {
        drawRow(painter, bar, columns, top, rowHeight(), colours);
        top += rowHeight();
    }
}

} // namespace workbench::gui
