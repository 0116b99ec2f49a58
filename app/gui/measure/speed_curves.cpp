#include "app/gui/measure/speed_curves.h"

#include "app/gui/measure/chart_style.h"
#include "app/session/bench_statistics.h"

#include <QtCore/QLocale>
#include <QtCore/QStringList>
#include <QtGui/QPainter>

#include <algorithm>
#include <cmath>

namespace workbench::gui {
namespace {

constexpr double kGap = 8;
constexpr double kNarrowestStep = 3; ///< pixels of a round
constexpr qint64 kFirstRounds = 8;   ///< that a long measurement has room for at first

/// Where the curves are drawn, and how values become points there.
struct Plot {
    QRectF area;
    AxisScale scale;
    qint64 rounds = 1;
    double x(double round) const {
        return area.left() + area.width() * round / static_cast<double>(std::max<qint64>(1, rounds));
    }
    double y(double speed) const {
        return area.bottom() - area.height() * std::clamp(speed / scale.end, 0.0, 1.0);
    }
};

double largest(const SpeedSeries& series) {
    double most = 0;
    for (const double speed : series.rounds)
        most = std::max(most, speed);
    // A single quick token must not flatten all else.
    for (const QPointF& point : series.live)
        most = std::max(most, series.rounds.empty() ? point.y() : std::min(point.y(), 1.2 * most));
    return most;
}

QString number(double value) {
    return QLocale().toString(value, 'f', value < 10 ? 2 : value < 1000 ? 1 : 0);
}

void drawAxes(QPainter& painter, const Plot& plot, const ChartColours& colours) {
    const QFontMetricsF metrics(painter.font());
    for (const double mark : plot.scale.marks()) {
        const double y = plot.y(mark);
        painter.setPen(colours.grid);
        painter.drawLine(QPointF(plot.area.left(), y), QPointF(plot.area.right(), y));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, y - metrics.height() / 2, plot.area.left() - kGap, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, QLocale().toString(mark, 'g', 4));
    }
    const double wide = metrics.horizontalAdvance(QString::number(plot.rounds)) + 3 * kGap;
    const auto fits = std::max<qint64>(1, static_cast<qint64>(plot.area.width() / wide));
    const qint64 every = (plot.rounds + fits - 1) / fits;
    for (qint64 round = 0; round < plot.rounds; round += every) {
        const double middle = plot.x(static_cast<double>(round) + 0.5);
        painter.drawText(QRectF(middle - wide, plot.area.bottom() + 2, 2 * wide, metrics.height()),
                         Qt::AlignCenter, QLocale().toString(round + 1));
    }
}

void drawBand(QPainter& painter, const Plot& plot, const Spread& spread, QColor colour) {
    colour.setAlpha(20);
    painter.fillRect(
        QRectF(QPointF(plot.area.left(), plot.y(spread.max)), QPointF(plot.area.right(), plot.y(spread.min))),
        colour);
}

void drawLive(QPainter& painter, const Plot& plot, const SpeedSeries& series, QColor colour) {
    colour.setAlpha(130);
    painter.setPen(QPen(colour, 1));
    for (std::size_t i = 1; i < series.live.size(); ++i) {
        const QPointF from = series.live[i - 1];
        const QPointF to = series.live[i];
        if (std::floor(from.x()) == std::floor(to.x()) && to.x() > from.x())
            painter.drawLine(QPointF(plot.x(from.x()), plot.y(from.y())),
                             QPointF(plot.x(to.x()), plot.y(to.y())));
    }
}

/// More rounds than there is room for: from the slowest to the fastest of those at each place.
void drawRanges(QPainter& painter, const Plot& plot, const SpeedSeries& series, const QColor& colour) {
    painter.setPen(QPen(colour, 1));
    const std::size_t count = series.rounds.size();
    const auto places = static_cast<std::size_t>(std::max(1.0, plot.area.width()));
    for (std::size_t place = 0; place < places; ++place) {
        const auto from = series.rounds.begin() + static_cast<std::ptrdiff_t>(place * count / places);
        const auto to = series.rounds.begin() + static_cast<std::ptrdiff_t>((place + 1) * count / places);
        if (from == to)
            continue;
        const auto [least, most] = std::minmax_element(from, to);
        const double x = plot.area.left() + static_cast<double>(place) + 0.5;
        painter.drawLine(QPointF(x, plot.y(*least) + 0.5), QPointF(x, plot.y(*most) - 0.5));
    }
}

void drawSteps(QPainter& painter, const Plot& plot, const SpeedSeries& series, const QColor& colour) {
    if (static_cast<double>(series.rounds.size()) > plot.area.width() / kNarrowestStep)
        return drawRanges(painter, plot, series, colour);
    QColor faint = colour;
    faint.setAlpha(110);
    for (std::size_t i = 0; i < series.rounds.size(); ++i) {
        const auto round = static_cast<double>(i);
        const double y = plot.y(series.rounds[i]);
        painter.setPen(QPen(colour, 2.5, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(QPointF(plot.x(round + 0.04), y), QPointF(plot.x(round + 0.96), y));
        if (i == 0)
            continue;
        painter.setPen(QPen(faint, 1));
        painter.drawLine(QPointF(plot.x(round - 0.04), plot.y(series.rounds[i - 1])),
                         QPointF(plot.x(round + 0.04), y));
    }
}

QColor colourOf(const SpeedSeries& series, const ChartColours& colours) {
    switch (series.program) {
    case SpeedSeries::Program::after:
        return colours.after;
    case SpeedSeries::Program::native:
        return colours.native;
    case SpeedSeries::Program::eager:
        return colours.eager;
    case SpeedSeries::Program::before:
        break;
    }
    return colours.before;
}

/// The medians beside the plot, moved apart where they would overlap: from the lowest up, each at least a
/// line above the one before, then all down again where they would leave the plot.
void drawMedians(QPainter& painter, const Plot& plot, const std::vector<SpeedSeries>& series,
                 const ChartColours& colours) {
    const double height = QFontMetricsF(painter.font()).height();
    struct Mark {
        double y;
        double median;
        QColor colour;
    };
    std::vector<Mark> marks;
    for (const SpeedSeries& one : series)
        if (const Spread spread = spreadOf(one.rounds); !std::isnan(spread.median))
            marks.push_back({plot.y(spread.median), spread.median, colourOf(one, colours)});
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.y > b.y; });
    for (std::size_t i = 1; i < marks.size(); ++i)
        marks[i].y = std::min(marks[i].y, marks[i - 1].y - height);
    const double above = marks.empty() ? 0 : std::max(0.0, plot.area.top() - marks.back().y);
    for (const Mark& mark : marks) {
        painter.setPen(mark.colour);
        painter.drawText(QRectF(plot.area.right() + kGap, mark.y + above - height / 2, 200, height),
                         Qt::AlignLeft | Qt::AlignVCenter, number(mark.median));
    }
}

void drawLegend(QPainter& painter, double left, const SpeedSeries& series, const QColor& colour,
                double* next) {
    const QFontMetricsF metrics(painter.font());
    const double middle = metrics.height() / 2 + 2;
    painter.setPen(QPen(colour, 2.5));
    painter.drawLine(QPointF(left, middle), QPointF(left + 16, middle));
    painter.setPen(colour);
    painter.drawText(QPointF(left + 22, metrics.ascent() + 2), series.name);
    *next = left + 22 + metrics.horizontalAdvance(series.name) + 2 * kGap;
}

QString summaryOf(const SpeedSeries& series) {
    const Spread spread = spreadOf(series.rounds);
    return series.rounds.empty()
               ? series.name
               : SpeedCurves::tr("%1: median %2, %3 to %4 tokens per second")
                     .arg(series.name, number(spread.median), number(spread.min), number(spread.max));
}

} // namespace

SpeedCurves::SpeedCurves(QWidget* parent) : QWidget(parent) {
    setObjectName("speedCurves");
    setAccessibleName(tr("Tokens per second by round"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void SpeedCurves::setSeries(std::vector<SpeedSeries> series, qint64 rounds) {
    m_series = std::move(series);
    std::size_t begun = 1;
    for (const SpeedSeries& one : m_series)
        begun = std::max(begun, one.rounds.size() + 1);
    qint64 shown = kFirstRounds;
    while (shown < static_cast<qint64>(begun))
        shown *= 2;
    m_rounds = std::clamp<qint64>(rounds, 1, shown);
    QStringList lines;
    bool anyRound = false;
    for (const SpeedSeries& one : m_series) {
        lines << summaryOf(one);
        anyRound = anyRound || !one.rounds.empty();
    }
    setAccessibleDescription(lines.join("\n"));
    setToolTip(anyRound ? lines.join("\n") : QString());
    update();
}

void SpeedCurves::setHint(const QString& hint) {
    m_hint = hint;
    update();
}

bool SpeedCurves::empty() const {
    return std::all_of(m_series.begin(), m_series.end(), [](const SpeedSeries& series) {
        return series.rounds.empty() && series.live.empty();
    });
}

void SpeedCurves::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const ChartColours colours = chartColours(palette());
    painter.fillRect(rect(), palette().base());
    if (empty()) {
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(rect()).adjusted(24, 12, -24, -12), Qt::AlignCenter | Qt::TextWordWrap,
                         m_hint);
        return;
    }
    const QFontMetricsF metrics(font());
    const double top = metrics.height() + 2 * kGap;
    const int marks = std::max(2, static_cast<int>((height() - top) / (2.5 * metrics.height())));
    double most = 0;
    for (const SpeedSeries& series : m_series)
        most = std::max(most, largest(series));
    Plot plot{{}, scaleFor(1.05 * most, marks), m_rounds};
    const double left =
        metrics.horizontalAdvance(QLocale().toString(plot.scale.end - plot.scale.step / 2, 'g', 4)) +
        3 * kGap;
    const double right = metrics.horizontalAdvance(number(plot.scale.end)) + 2 * kGap;
    plot.area = QRectF(left, top, width() - left - right, height() - top - metrics.height() - kGap);
    drawAxes(painter, plot, colours);
    double next = left;
    for (const SpeedSeries& series : m_series)
        drawLegend(painter, next, series, colourOf(series, colours), &next);
    const QString caption = tr("tokens per second, by round");
    painter.setPen(colours.mutedText);
    if (next + metrics.horizontalAdvance(caption) <= plot.area.right())
        painter.drawText(QRectF(left, 2, plot.area.width(), metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, caption);
    for (const SpeedSeries& series : m_series)
        if (!series.rounds.empty())
            drawBand(painter, plot, spreadOf(series.rounds), colourOf(series, colours));
    for (const SpeedSeries& series : m_series) {
        drawLive(painter, plot, series, colourOf(series, colours));
        drawSteps(painter, plot, series, colourOf(series, colours));
    }
    drawMedians(painter, plot, m_series, colours);
}

} // namespace workbench::gui
