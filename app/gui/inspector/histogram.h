#pragma once

#include "app/session/weight_statistics.h"

#include <QtWidgets/QWidget>

namespace workbench::gui {

/// The distribution of a weight: bars, the range below, the counts under the mouse.
class Histogram : public QWidget {
    Q_OBJECT
public:
    Histogram(const WeightStatistics& statistics, const QString& name, QWidget* parent);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF plot() const;
    /// From where to where a bar counts, and how many.
    QString barText(std::size_t bin) const;

    WeightStatistics m_statistics;
};

/// "0.0123", "1.2e-05": three figures.
QString shortNumber(double value);

} // namespace workbench::gui
