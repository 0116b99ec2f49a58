#pragma once

#include "app/gui/document/panel.h"
#include "app/gui/measure/live_feed.h"
#include "app/session/bisect_session.h"

#include <QtCore/QTimer>

class QAction;
class QLabel;
class QProgressBar;
class QPushButton;
class QSplitter;

namespace workbench::gui {

class BisectView;
class MeasureForm;
class ResultsView;

/// Speed before and after the decided rewrites, live; what each pattern is worth; which site is guilty when
/// numbers or speed go wrong.
class MeasurePanel : public Panel {
    Q_OBJECT
public:
    MeasurePanel(Document& document, Selection& selection, QWidget* parent);

    void start();
    void stop(); ///< at once: the worker is asked, then killed
    void bisect(SessionBisectRequest::By by);
    void askWorker();
    void openReport(const QString& file);
    void saveReport(const QString& file);
    bool running() const { return m_job.valid(); }

    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;
    QList<QAction*> actionsFor(Menu menu) override;
    bool openFile(const QString& file) override; ///< a measurement
    void themeChanged() override;

private:
    void startNow();
    QWidget* makeLeft();
    QWidget* makeForm();
    void makeActions();
    void connectAll();
    void begin(JobHandle job, const QString& status);
    void end();
    void showNews();
    void showProgress(const BenchReport& report);
    void showControls();
    void notice(const QString& words); ///< "": none
    void fail(const Error& error);
    void finishMeasure(const Result<BenchReport>& result);
    void finishBisect(const Result<SessionBisect>& result, SessionBisectRequest::By by);
    void openByDialog();
    void saveByDialog();
    void selectSite(const QString& site);
    void publishGains(const BenchReport& report);
    bool anythingApplied() const;

    JobHandle m_job;
    std::shared_ptr<LiveFeed> m_feed;
    QTimer m_timer;
    Decisions m_measured;  ///< decisions that the shown results are of
    bool m_isOurs = false; ///< the shown results are of this document, not of a file

    MeasureForm* m_form;
    ResultsView* m_results;
    BisectView* m_bisect;
    QPushButton* m_start;
    QPushButton* m_stop;
    QProgressBar* m_progress;
    QLabel* m_notice;
    QSplitter* m_splitter;
    QAction* m_startAction;
    QAction* m_stopAction;
    QAction* m_openAction;
    QAction* m_saveAction;
};

} // namespace workbench::gui
