#pragma once

#include <QtCore/QPointF>
#include <QtWidgets/QWidget>

#include <vector>

namespace workbench::gui {

/// How fast one program was.
struct SpeedSeries {
    enum class Program { before, after, native, eager };
    Program program = Program::before; ///< whose colour it has
    QString name;
    std::vector<double> rounds; ///< tokens per second of each whole round
    std::vector<QPointF> live;  ///< x: rounds (1.5 is the middle of the second), y: tokens per second
};

/// Tokens per second over the rounds, of each program: a step for each round, a thin line for what is being
/// measured, a band from the slowest to the fastest round and the median at the right.
class SpeedCurves : public QWidget {
    Q_OBJECT
public:
    explicit SpeedCurves(QWidget* parent = nullptr);

    /// `rounds` of the whole measurement; the axis of a long one grows with it.
    void setSeries(std::vector<SpeedSeries> series, qint64 rounds);
    void setHint(const QString& hint); ///< shown while there is nothing else

    QSize sizeHint() const override { return {520, 260}; }
    QSize minimumSizeHint() const override { return {190, 120}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    bool empty() const;

    std::vector<SpeedSeries> m_series;
    qint64 m_rounds = 1;
    QString m_hint;
};

} // namespace workbench::gui
