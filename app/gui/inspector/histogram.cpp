#include "app/gui/inspector/histogram.h"

#include "app/draw/theme.h"

#include <QtGui/QHelpEvent>
#include <QtGui/QPainter>
#include <QtWidgets/QToolTip>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kBarsHeight = 64; // device-independent pixels

} // namespace

QString shortNumber(double value) {
    return QString::number(value, 'g', 3);
}

Histogram::Histogram(const WeightStatistics& statistics, const QString& name, QWidget* parent)
    : QWidget(parent), m_statistics(statistics) {
    setObjectName("histogram");
    setAccessibleName(tr("Histogram of %1, from %2 to %3")
                          .arg(name, shortNumber(statistics.minimum), shortNumber(statistics.maximum)));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize Histogram::sizeHint() const {
    return {240, kBarsHeight + fontMetrics().height() + 6};
}

QRectF Histogram::plot() const {
    return {0, 2, double(width()), kBarsHeight};
}

QString Histogram::barText(std::size_t bin) const {
    const double step = (m_statistics.maximum - m_statistics.minimum) / double(kHistogramBins);
    const double from = m_statistics.minimum + step * double(bin);
    return tr("%1 to %2: %L3 numbers")
        .arg(shortNumber(from), shortNumber(from + step))
        .arg(m_statistics.histogram[bin]);
}

void Histogram::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRectF area = plot();
    const auto& bins = m_statistics.histogram;
    const std::int64_t most = bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end());
    const QColor bar = palette().color(QPalette::Highlight);
    const double width = area.width() / double(kHistogramBins);
    for (std::size_t i = 0; most > 0 && i < bins.size(); ++i) {
        // A bin that holds anything shows: outliers are what one looks for.
        const double height =
            bins[i] == 0 ? 0 : std::max(1.5, area.height() * double(bins[i]) / double(most));
        painter.fillRect(
            QRectF(area.x() + width * double(i), area.bottom() - height, std::max(1.0, width - 1), height),
            bar);
    }
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.setPen(palette().color(QPalette::WindowText));
    const QRectF labels(area.x(), area.bottom() + 2, area.width(), fontMetrics().height() + 2);
    painter.drawText(labels, Qt::AlignLeft, shortNumber(m_statistics.minimum));
    painter.drawText(labels, Qt::AlignRight, shortNumber(m_statistics.maximum));
    if (m_statistics.minimum < 0 && m_statistics.maximum > 0) {
        const double zero =
            -m_statistics.minimum / (m_statistics.maximum - m_statistics.minimum) * area.width();
        painter.setPen(QPen(palette().color(QPalette::WindowText), 1, Qt::DotLine));
        painter.drawLine(QPointF(zero, area.top()), QPointF(zero, area.bottom() + 3));
        const double label = painter.fontMetrics().horizontalAdvance(shortNumber(m_statistics.minimum)) + 12;
        if (zero > label && zero < area.width() - label)
            painter.drawText(QRectF(zero - 10, labels.y(), 20, labels.height()), Qt::AlignHCenter, "0");
    }
}

bool Histogram::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || m_statistics.histogram.empty())
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int bin = int(double(help->pos().x()) / std::max(1, width()) * double(kHistogramBins));
    QToolTip::showText(help->globalPos(), barText(std::size_t(std::clamp(bin, 0, int(kHistogramBins) - 1))),
                       this);
    return true;
}

} // namespace workbench::gui
