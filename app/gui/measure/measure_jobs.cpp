#include "app/gui/measure/bisect_view.h"
#include "app/gui/measure/measure_form.h"
#include "app/gui/measure/measure_panel.h"
#include "app/gui/measure/results_view.h"
#include "app/session/site_gains.h"

#include <QtCore/QFile>
#include <QtGui/QAction>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>

#include <algorithm>

/// What the panel runs: measuring, searching for the guilty site, asking the worker, reading and writing
/// files.

namespace workbench::gui {
namespace {

using By = SessionBisectRequest::By;

constexpr qint64 kHead = 4096; ///< bytes that tell a measurement from a plan

bool isMeasurement(const QString& path) {
    QFile file(path);
    if (!file.open(QFile::ReadOnly))
        return false;
    const QByteArray head = file.read(kHead);
    return head.contains("\"machine\"") && head.contains("\"load\"");
}

} // namespace

void MeasurePanel::begin(JobHandle job, const QString& status) {
    if (!job.valid()) {
        notice(tr("“%1” is running: wait for its end, or cancel it.").arg(document().jobTitle()));
        return;
    }
    m_job = job;
    notice({});
    m_progress->setRange(0, 0);
    m_progress->setFormat(status);
    m_timer.start();
    showControls();
}

/// The last news may have come after the timer's last tick.
void MeasurePanel::end() {
    showNews();
    m_timer.stop();
    m_job = {};
    showControls();
}

/// Decisions of a moment ago count.
void MeasurePanel::start() {
    document().whenRewritten(this, [this] { startNow(); });
}

void MeasurePanel::startNow() {
    const MeasureChoice choice = m_form->choice();
    if (const QString fault = m_form->fault(); !fault.isEmpty())
        return notice(fault);
    if (running() || document().busy())
        return;
    document().setWorker(choice.worker);
    m_feed = std::make_shared<LiveFeed>();
    m_results->begin(choice.request.load);
    m_measured = document().session().decisions();
    m_isOurs = true;
    begin(document().run<BenchReport>(
              this, tr("Measure speed"),
              [feed = m_feed, choice](Session& session, Runtime& runtime,
                                      const Job& job) -> Result<BenchReport> {
                  MeasureRequest request = choice.request;
                  auto load = wholeLoad(choice);
                  if (!load)
                      return load.error();
                  request.load = std::move(*load);
                  return measure(session, runtime, request, feed->observer(), job);
              },
              [this](Result<BenchReport> result) { finishMeasure(result); }),
          tr("Loading"));
    if (running() && !anythingApplied())
        notice(tr("Nothing is applied: both programs are the same. Decide on rewrites to compare them."));
}

bool MeasurePanel::anythingApplied() const {
    const auto& outcomes = document().rewritten()->outcomes;
    return std::any_of(outcomes.begin(), outcomes.end(), [](const SiteOutcome& outcome) {
        return outcome.state == SiteOutcome::State::applied;
    });
}

void MeasurePanel::stop() {
    if (!running())
        return;
    m_job.cancel();
    m_stop->setEnabled(false);
    m_stopAction->setEnabled(false);
    m_progress->setRange(0, 0);
}

void MeasurePanel::finishMeasure(const Result<BenchReport>& result) {
    end();
    if (!result)
        return fail(result.error());
    m_results->setReport(*result);
    m_form->rememberWorker();
    m_form->showWorker(result->machine);
    publishGains(*result);
    document().setNodeTimes(result->nodeTimes, m_measured);
    showControls();
}

void MeasurePanel::bisect(By by) {
    if (running() || document().busy())
        return;
    const MeasureChoice choice = m_form->choice();
    if (const QString fault = m_form->fault(); !fault.isEmpty() && by == By::speed)
        return notice(fault);
    document().setWorker(choice.worker);
    m_feed = std::make_shared<LiveFeed>();
    SessionBisectRequest request;
    request.by = by;
    request.device = choice.request.device;
    request.onStep = [feed = m_feed](const BisectStep& step) { feed->step(step); };
    begin(document().run<SessionBisect>(
              this, tr("Find the guilty site"),
              [feed = m_feed, request, choice](Session& session, Runtime& runtime,
                                               const Job& job) mutable -> Result<SessionBisect> {
                  if (request.by == By::speed) {
                      auto load = wholeLoad(choice);
                      if (!load)
                          return load.error();
                      request.load = std::move(*load);
                  }
                  auto sites = appliedSites(session);
                  if (!sites)
                      return sites.error();
                  feed->sites(std::move(sites).value());
                  return bisectSession(session, runtime, request, job);
              },
              [this, by](Result<SessionBisect> result) { finishBisect(result, by); }),
          tr("Searching"));
}

void MeasurePanel::finishBisect(const Result<SessionBisect>& result, By by) {
    end();
    if (result)
        return m_bisect->finish(*result, by);
    m_bisect->stop(result.error().code == ErrorCode::cancelled
                       ? tr("Stopped.")
                       : QString::fromStdString(result.error().message));
    if (result.error().code != ErrorCode::cancelled)
        fail(result.error());
}

void MeasurePanel::askWorker() {
    if (running() || document().busy())
        return;
    document().setWorker(m_form->choice().worker);
    m_feed = std::make_shared<LiveFeed>();
    begin(document().run<nlohmann::json>(
              this, tr("Ask the worker"),
              [](Session&, Runtime& runtime, const Job& job) { return runtime.hello(job); },
              [this](Result<nlohmann::json> hello) {
                  end();
                  if (!hello)
                      return fail(hello.error());
                  m_form->rememberWorker();
                  m_form->showWorker(*hello);
              }),
          tr("Starting the worker"));
}

void MeasurePanel::fail(const Error& error) {
    if (error.code != ErrorCode::cancelled)
        return notice(QString::fromStdString(error.message));
    const auto& report = m_results->report();
    const auto rounds = report ? report->after.rounds.size() : 0;
    notice(rounds == 0 ? tr("Stopped.") : tr("Stopped after %n rounds.", nullptr, static_cast<int>(rounds)));
}

void MeasurePanel::publishGains(const BenchReport& report) {
    std::map<std::string, SpeedGain> gains;
    for (const auto& [site, gain] :
         siteGains(report, document().analysis(), document().rewritten()->outcomes))
        gains[document().analysis().sites[site].id] = gain;
    if (!gains.empty())
        document().setMeasured(std::move(gains));
}

bool MeasurePanel::openFile(const QString& file) {
    if (!isMeasurement(file))
        return false;
    openReport(file);
    return true;
}

void MeasurePanel::openReport(const QString& file) {
    struct Read {
        BenchReport report;
        std::optional<Decisions> decisions; ///< that it is of, where they are those of now
    };
    document().look<Read>(
        this,
        [path = file.toStdString()](Session& session, const Job&) -> Result<Read> {
            auto report = readBench(path);
            if (!report)
                return report.error();
            const auto rewritten = session.rewritten();
            const bool same = report->nodeTimes && rewritten &&
                              report->nodeTimes->rewritten == fingerprintOf((*rewritten)->graph);
            return Read{std::move(report).value(), same ? std::optional(session.decisions()) : std::nullopt};
        },
        [this, file](Result<Read> read) {
            if (!read)
                return fail(read.error());
            m_isOurs = false;
            notice({});
            m_results->setOpened(read->report, file);
            document().setNodeTimes(read->report.nodeTimes, read->decisions);
            showControls();
        });
}

void MeasurePanel::saveReport(const QString& file) {
    if (!m_results->report())
        return;
    document().look<Ok>(
        this,
        [path = file.toStdString(), report = *m_results->report()](Session&, const Job&) {
            return writeBench(report, path);
        },
        [this](Result<Ok> written) {
            if (!written)
                fail(written.error());
        });
}

} // namespace workbench::gui
