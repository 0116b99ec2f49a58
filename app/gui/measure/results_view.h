#pragma once

#include "app/gui/measure/live_curve.h"
#include "app/session/bench_report.h"

#include <QtCore/QSettings>
#include <QtWidgets/QWidget>

#include <optional>

class QComboBox;
class QLabel;
class QSplitter;
class QTableView;
class QTabWidget;

namespace workbench::gui {

class ElidedLabel;
class PatternBars;
class OperatorTimesModel;
class ResultModel;
class SpeedCurves;

/// What was measured: headline, curves, figures and what each pattern is worth. Shows a measurement while it
/// runs and one that was opened.
class ResultsView : public QWidget {
    Q_OBJECT
public:
    explicit ResultsView(QWidget* parent = nullptr);

    void begin(const BenchLoad& load); ///< empties it
    void setReport(const BenchReport& report);
    void setOpened(const BenchReport& report, const QString& file); ///< one that was made elsewhere
    void addPaces(const std::vector<BenchPace>& paces);
    const std::optional<BenchReport>& report() const { return m_report; }
    QTabWidget& tabs() { return *m_tabs; } ///< a further one may be added

    void themeChanged() { showAll(); }

    void saveState(QSettings& settings) const;
    void restoreState(const QSettings& settings);

protected:
    /// Curves and figures above each other, or side by side in a flat dock.
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeTop();
    void makeTabs();
    Quantity quantity() const;
    void showAll();
    void showCurves();
    void showHeadline();
    void showPatterns();
    void showTimes();
    void chooseQuantity();
    qint64 tokensOfRound() const;

    std::optional<BenchReport> m_report;
    BenchLoad m_load;
    QString m_source; ///< file that it was opened from
    LiveCurve m_before;
    LiveCurve m_after;
    LiveCurve m_native;

    QLabel* m_headline;
    ElidedLabel* m_about;
    ElidedLabel* m_details;
    QComboBox* m_quantity;
    SpeedCurves* m_curves;
    QTabWidget* m_tabs;
    QTableView* m_table;
    ResultModel* m_model;
    OperatorTimesModel* m_times;
    PatternBars* m_bars;
    QSplitter* m_splitter;
};

} // namespace workbench::gui
