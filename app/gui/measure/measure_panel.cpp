#include "app/gui/measure/measure_panel.h"

#include "app/gui/measure/bisect_view.h"
#include "app/gui/measure/measure_form.h"
#include "app/gui/measure/results_view.h"

#include <QtGui/QAction>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QScrollArea>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QToolButton>

#include <algorithm>

namespace workbench::gui {
namespace {

using namespace std::chrono_literals;

constexpr auto kNewsEvery = 50ms;

QToolButton* toolButton(QAction* action) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setAccessibleName(action->text());
    return button;
}

} // namespace

MeasurePanel::MeasurePanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent) {
    makeActions();
    m_results = new ResultsView;
    m_bisect = new BisectView;
    m_results->tabs().addTab(m_bisect, tr("Guilty site"));
    m_splitter = new QSplitter(Qt::Horizontal);
    m_splitter->addWidget(makeLeft());
    m_splitter->addWidget(m_results);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({280, 760});
    m_splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_splitter);
    connectAll();
    m_form->setWorkerCommand(document.worker());
    m_form->setWeights(document.weights());
    notice({});
    showControls();
}

void MeasurePanel::makeActions() {
    const auto make = [this](const char* name, const QString& text, void (MeasurePanel::*slot)()) {
        auto* action = new QAction(text, this);
        action->setObjectName(name);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    m_startAction = make("startMeasuring", tr("&Measure speed"), &MeasurePanel::start);
    m_stopAction = make("stopMeasuring", tr("S&top measuring"), &MeasurePanel::stop);
    m_openAction = make("openMeasurement", tr("Open measurement…"), &MeasurePanel::openByDialog);
    m_openAction->setToolTip(tr("Opens what “workbench bench --json” or another window wrote."));
    m_saveAction = make("saveMeasurement", tr("Save measurement…"), &MeasurePanel::saveByDialog);
}

/// The form scrolls in a flat dock; the buttons and what they say stay in sight.
QWidget* MeasurePanel::makeLeft() {
    auto* left = new QWidget;
    auto* layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 6, 0);
    layout->addWidget(makeForm(), 100); // before the room below the buttons
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, 0, 6, 0); // as wide as the form
    m_start = new QPushButton(tr("&Start"));
    m_start->setObjectName("start");
    m_stop = new QPushButton(tr("St&op"));
    m_stop->setObjectName("stop");
    buttons->addWidget(m_start, 1);
    buttons->addWidget(m_stop, 1);
    layout->addLayout(buttons);
    m_progress = new QProgressBar;
    m_progress->setObjectName("measureProgress");
    m_progress->setAccessibleName(tr("Progress of the measurement"));
    layout->addWidget(m_progress);
    m_notice = new QLabel;
    m_notice->setObjectName("measureNotice");
    m_notice->setWordWrap(true);
    m_notice->setFrameShape(QFrame::StyledPanel);
    m_notice->setMargin(6);
    m_notice->setTextFormat(Qt::PlainText);
    m_notice->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(m_notice);
    layout->addStretch(1);
    return left;
}

QWidget* MeasurePanel::makeForm() {
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 6, 0);
    m_form = new MeasureForm;
    layout->addWidget(m_form);
    auto* files = new QHBoxLayout;
    files->addWidget(toolButton(m_openAction));
    files->addWidget(toolButton(m_saveAction));
    files->addStretch(1);
    layout->addLayout(files);
    auto* scroll = new QScrollArea;
    scroll->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setAccessibleName(tr("Settings of the measurement"));
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(page);
    scroll->setMinimumWidth(page->minimumSizeHint().width() + 16);
    return scroll;
}

void MeasurePanel::connectAll() {
    connect(m_start, &QPushButton::clicked, this, &MeasurePanel::start);
    connect(m_stop, &QPushButton::clicked, this, &MeasurePanel::stop);
    connect(m_form, &MeasureForm::askRequested, this, &MeasurePanel::askWorker);
    connect(m_form, &MeasureForm::workerChosen, &document(), &Document::setWorker);
    connect(&document(), &Document::workerChanged, this,
            [this] { m_form->setWorkerCommand(document().worker()); });
    connect(m_form, &MeasureForm::weightsChosen, &document(), &Document::setWeights);
    connect(&document(), &Document::weightsChanged, this,
            [this] { m_form->setWeights(document().weights()); });
    connect(m_bisect, &BisectView::startRequested, this, &MeasurePanel::bisect);
    connect(m_bisect, &BisectView::siteActivated, this, &MeasurePanel::selectSite);
    connect(&document(), &Document::jobChanged, this, &MeasurePanel::showControls);
    connect(&document(), &Document::progressed, this, [this](const QString& stage, const QString& detail) {
        if (running() && m_progress->maximum() == 0)
            m_progress->setToolTip(stage + " " + detail);
    });
    connect(&document(), &Document::decisionsChanged, this, [this] {
        if (m_isOurs && !running())
            notice(m_measured == document().session().decisions()
                       ? QString()
                       : tr("The decisions have changed since this was measured."));
    });
    m_timer.setInterval(kNewsEvery);
    connect(&m_timer, &QTimer::timeout, this, &MeasurePanel::showNews);
}

void MeasurePanel::showNews() {
    LiveFeed::News news = m_feed->take();
    if (news.sites)
        m_bisect->begin(std::move(*news.sites));
    m_bisect->addSteps(news.steps);
    if (news.report) {
        m_results->setReport(*news.report);
        showProgress(*news.report);
    }
    m_results->addPaces(news.paces);
}

void MeasurePanel::showProgress(const BenchReport& report) {
    std::size_t done = report.before.rounds.size() + report.after.rounds.size();
    for (const PatternEffect& effect : report.patterns)
        done += effect.without.rounds.size();
    if (report.native)
        done += report.native->rounds.size();
    if (report.eager)
        done += report.eager->rounds.size();
    const std::size_t programs =
        2 + (report.native ? 1 : 0) + (report.eager ? 1 : 0) + report.patterns.size();
    m_progress->setRange(0, static_cast<int>(programs) * static_cast<int>(report.load.rounds));
    m_progress->setValue(static_cast<int>(done));
    m_progress->setFormat(
        tr("Round %1 of %2")
            .arg(std::min<qint64>(static_cast<qint64>(done / programs) + 1, report.load.rounds))
            .arg(report.load.rounds));
}

void MeasurePanel::showControls() {
    const bool isRunning = running();
    const bool free = !isRunning && !document().busy();
    m_form->setEntriesEnabled(!isRunning);
    m_start->setEnabled(free);
    m_start->setToolTip(free || isRunning ? QString() : tr("“%1” is running.").arg(document().jobTitle()));
    m_startAction->setEnabled(free);
    m_stop->setEnabled(isRunning);
    m_stopAction->setEnabled(isRunning);
    m_bisect->setStartEnabled(free);
    m_progress->setVisible(isRunning);
    m_openAction->setEnabled(!isRunning);
    m_saveAction->setEnabled(!isRunning && m_results->report() && !m_results->report()->after.rounds.empty());
}

void MeasurePanel::notice(const QString& words) {
    m_notice->setText(words);
    m_notice->setVisible(!words.isEmpty());
}

void MeasurePanel::selectSite(const QString& id) {
    const auto& sites = document().analysis().sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (sites[i].id == id.toStdString()) {
            selection().selectSite(i, sites[i].module);
            selection().reveal();
            return;
        }
}

void MeasurePanel::openByDialog() {
    const QString file = QFileDialog::getOpenFileName(this, tr("Open measurement"), {},
                                                      tr("Measurements (*.json);;All files (*)"));
    if (!file.isEmpty())
        openReport(file);
}

void MeasurePanel::saveByDialog() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Save measurement"), "bench.json",
                                                      tr("Measurements (*.json);;All files (*)"));
    if (!file.isEmpty())
        saveReport(file);
}

void MeasurePanel::saveState(QSettings& settings) const {
    m_form->saveState(settings);
    m_results->saveState(settings);
    settings.setValue("panes", m_splitter->saveState());
}

void MeasurePanel::restoreState(const QSettings& settings) {
    const QString named = document().worker(); // by the command line, or chosen before
    m_form->restoreState(settings);
    if (named.isEmpty())
        document().setWorker(m_form->choice().worker);
    else
        m_form->setWorkerCommand(named);
    m_results->restoreState(settings);
    m_splitter->restoreState(settings.value("panes").toByteArray());
}

QList<QAction*> MeasurePanel::actionsFor(Menu menu) {
    if (menu != Menu::model)
        return {};
    return {m_startAction, m_stopAction, m_openAction, m_saveAction};
}

void MeasurePanel::themeChanged() {
    m_results->themeChanged();
}

} // namespace workbench::gui
