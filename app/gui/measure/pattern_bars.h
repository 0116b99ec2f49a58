#pragma once

#include "app/session/bench_statistics.h"

#include <QtWidgets/QWidget>

#include <vector>

namespace workbench::gui {

/// What one pattern is worth: with it against without it.
struct PatternBar {
    QString pattern;
    qint64 sites = 0;
    Comparison comparison;
};

/// A bar for each pattern, in percent of speed, with its interval as a whisker.
class PatternBars : public QWidget {
    Q_OBJECT
public:
    explicit PatternBars(QWidget* parent = nullptr);

    void setBars(std::vector<PatternBar> bars);
    void setHint(const QString& hint);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    double rowHeight() const;

    std::vector<PatternBar> m_bars;
    QString m_hint;
};

} // namespace workbench::gui
