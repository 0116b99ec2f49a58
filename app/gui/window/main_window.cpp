#include "app/gui/window/main_window.h"

#include "app/gui/window/opening_page.h"
#include "app/gui/window/plan_actions.h"
#include "app/gui/window/recent_models.h"
#include "app/gui/window/start_page.h"
#include "app/gui/window/window_options.h"
#include "app/gui/window/workspace.h"
#include "app/session/summary.h"

#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QSettings>
#include <QtGui/QAction>
#include <QtGui/QCloseEvent>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QInputDialog>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QStackedWidget>
#include <QtWidgets/QStatusBar>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QToolButton>

namespace workbench::gui {
namespace {

constexpr QSize kFirstSize(1280, 800);
constexpr const char* kGeometry = "window/geometry";
constexpr const char* kOpen = "window/openModels";

/// A directory or file gets its absolute path, so that the recent list works from anywhere; a name stays.
QString wholeName(const QString& model) {
    const QFileInfo file(model);
    return file.exists() ? QDir::cleanPath(file.absoluteFilePath()) : model;
}

} // namespace

MainWindow::MainWindow(const Locations& locations, Appearance& appearance, QWidget* parent)
    : QMainWindow(parent), m_locations(locations), m_appearance(appearance), m_pages(new QStackedWidget),
      m_start(new StartPage), m_tabs(new QTabWidget), m_plans(new PlanActions(*this)), m_stage(new QLabel),
      m_facts(new QLabel), m_progress(new QProgressBar), m_stopButton(new QToolButton) {
    setObjectName("mainWindow");
    setWindowTitle(tr("Fusion Workbench"));
    setAcceptDrops(true);
    m_tabs->setObjectName("models");
    m_tabs->setAccessibleName(tr("Open models"));
    m_tabs->setTabsClosable(true);
    m_tabs->setMovable(true);
    m_tabs->setDocumentMode(true);
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_tabs);
    setCentralWidget(m_pages);
    makeActions();
    makeMenus();

    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->setFixedWidth(120);
    m_progress->setAccessibleName(tr("Work in progress"));
    m_stopButton->setDefaultAction(m_stop);
    m_stopButton->setAutoRaise(true);
    m_stage->setTextFormat(Qt::PlainText); // names of files and modules
    statusBar()->addWidget(m_stage, 1);
    statusBar()->addWidget(m_progress);
    statusBar()->addWidget(m_stopButton);
    statusBar()->addPermanentWidget(m_facts);

    connect(m_start, &StartPage::folderWanted, this, &MainWindow::chooseFolder);
    connect(m_start, &StartPage::fileWanted, this, &MainWindow::chooseArchive);
    connect(m_start, &StartPage::nameWanted, this, &MainWindow::chooseName);
    connect(m_start, &StartPage::tourWanted, this, &MainWindow::showTour);
    connect(m_start, &StartPage::modelChosen, this, &MainWindow::openPath);
    connect(m_start, &StartPage::unsavedChosen, this, [this](const std::shared_ptr<const Autosaved>& work) {
        OpenRequest request;
        request.model = QString::fromStdString(work->model);
        request.trace = work->trace;
        request.unsaved = work;
        openModel(request);
    });
    connect(m_tabs, &QTabWidget::currentChanged, this, &MainWindow::tabChanged);
    connect(m_tabs, &QTabWidget::tabCloseRequested, this, [this](int index) { closeTab(tab(index)); });

    resize(kFirstSize);
    restoreGeometry(QSettings().value(kGeometry).toByteArray());
    tabChanged();
}

/// What still runs is waited for: threads do not outlive the program.
MainWindow::~MainWindow() {
    m_tabs->disconnect(this); // a tab that goes must not be asked about
    while (m_tabs->count() > 0)
        delete m_tabs->widget(0);
    for (const QPointer<ModelTab>& tab : m_retired)
        delete tab;
}

ModelTab* MainWindow::currentTab() const {
    return m_pages->currentWidget() == m_tabs ? qobject_cast<ModelTab*>(m_tabs->currentWidget()) : nullptr;
}

int MainWindow::tabCount() const {
    return m_tabs->count();
}

ModelTab* MainWindow::tab(int index) const {
    return qobject_cast<ModelTab*>(m_tabs->widget(index));
}

ModelTab* MainWindow::openModel(const OpenRequest& asked) {
    OpenRequest request = asked;
    request.model = wholeName(asked.model);
    for (int i = 0; i < tabCount(); ++i) {
        const OpenRequest& open = tab(i)->document().request();
        if (open.model == request.model && open.trace.dtype == request.trace.dtype && !request.unsaved &&
            request.plan.isEmpty()) {
            m_tabs->setCurrentIndex(i);
            return tab(i);
        }
    }
    auto* made = new ModelTab(m_locations);
    connect(made, &ModelTab::titleChanged, this, [this, made] { updateTitle(made); });
    connect(made, &ModelTab::closeWanted, this, [this, made] { closeTab(made); });
    connect(made, &ModelTab::workspaceChanged, this, &MainWindow::updateActions);
    Document& document = made->document();
    document.setWorker(m_worker);
    connect(&document, &Document::stateChanged, this, [this, made] {
        if (made->document().state() == Document::State::ready)
            rememberModel(made->document().request().model);
        fillRecentMenu();
        updateStatus();
    });
    for (const auto signal : {&Document::jobChanged, &Document::decisionsChanged, &Document::planFileChanged})
        connect(&document, signal, this, &MainWindow::updateStatus);
    connect(&document, &Document::modifiedChanged, this, &MainWindow::updateStatus);
    connect(&document, &Document::progressed, this,
            [this, made](const QString& stage, const QString& detail) {
                if (made == currentTab())
                    m_stage->setText(detail.isEmpty() ? stageText(stage) : stageText(stage) + ": " + detail);
            });
    connect(&made->selection(), &Selection::changed, this, &MainWindow::updateActions);
    m_tabs->addTab(made, QString());
    document.open(request);
    m_tabs->setCurrentWidget(made);
    tabChanged();
    return made;
}

ModelTab* MainWindow::openPath(const QString& path) {
    OpenRequest request;
    request.model = path;
    request.trace = m_trace;
    return openModel(request);
}

void MainWindow::chooseFolder() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a model folder"));
    if (!folder.isEmpty())
        openPath(folder);
}

void MainWindow::chooseArchive() {
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a torch.export archive"), QString(),
                                                      tr("torch.export archives (*.pt2);;All files (*)"));
    if (!file.isEmpty())
        openPath(file);
}

void MainWindow::chooseName() {
    const QString name =
        QInputDialog::getText(this, tr("Open by name"), tr("org/name or org/name@revision:")).trimmed();
    if (!name.isEmpty())
        openPath(name);
}

void MainWindow::tabChanged() {
    m_pages->setCurrentWidget(tabCount() > 0 ? static_cast<QWidget*>(m_tabs) : m_start);
    if (tabCount() == 0)
        m_start->showRecent();
    for (int i = 0; i < tabCount(); ++i)
        updateTitle(tab(i));
    updateActions();
    updateStatus();
}

void MainWindow::updateTitle(ModelTab* tab) {
    const int index = m_tabs->indexOf(tab);
    if (index < 0)
        return;
    m_tabs->setTabText(index, tab->title().replace('&', "&&"));
    m_tabs->setTabToolTip(index, tab->document().request().model);
    const ModelTab* current = currentTab();
    setWindowModified(current && const_cast<ModelTab*>(current)->document().modified());
    if (!current) {
        setWindowTitle(tr("Fusion Workbench"));
    } else if (current == tab) {
        const QString plan = QFileInfo(tab->document().planFile()).fileName();
        setWindowTitle(
            tr("%1[*] - Fusion Workbench")
                .arg(plan.isEmpty() ? tab->document().title() : tab->document().title() + ": " + plan));
    }
}

void MainWindow::updateStatus() {
    ModelTab* current = currentTab();
    const Document* document = current ? &current->document() : nullptr;
    const bool works = document && (document->busy() || document->opening());
    m_progress->setVisible(works);
    m_stopButton->setVisible(works);
    m_stop->setEnabled(works);
    if (!works)
        m_stage->setText(document && document->state() == Document::State::ready
                             ? QString::fromStdString(modelLine(document->session().model().facts))
                             : QString());
    else if (document->busy())
        m_stage->setText(document->jobTitle());
    m_facts->setText(document && document->modified() ? tr("not saved") : QString());
    updateActions();
}

void MainWindow::closeTab(ModelTab* tab) {
    closeTabThen(tab, [] {});
}

/// Asks where something is unsaved; `after` follows when the tab is gone.
void MainWindow::closeTabThen(ModelTab* tab, std::function<void()> after) {
    if (!tab->document().modified()) {
        remove(tab);
        after();
        return;
    }
    m_tabs->setCurrentWidget(tab);
    auto* box = new QMessageBox(QMessageBox::Question, tr("Save the plan?"),
                                tr("The decisions on %1 are not saved.").arg(tab->document().title()),
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box->setObjectName("askSave");
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setDefaultButton(QMessageBox::Save);
    connect(box, &QMessageBox::finished, this, [this, tab = QPointer<ModelTab>(tab), after](int answer) {
        const auto goOn = [this, tab, after](bool goes) {
            m_closing = m_closing && goes;
            if (goes && tab) {
                remove(tab);
                after();
            }
        };
        if (tab && answer == QMessageBox::Save)
            m_plans->save(tab, goOn);
        else
            goOn(answer == QMessageBox::Discard);
    });
    box->open();
}

/// The tab is gone at once; it is deleted when its helpers have ended.
void MainWindow::remove(ModelTab* tab) {
    m_tabs->removeTab(m_tabs->indexOf(tab));
    m_retired.removeAll(nullptr);
    m_retired += tab;
    tab->retire();
    tabChanged();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!m_closing)
        saveWindow();
    for (int i = 0; i < tabCount(); ++i)
        if (tab(i)->document().modified()) {
            event->ignore();
            m_closing = true; // what was open is known: tabs go one by one now
            closeTabThen(tab(i), [this] { close(); });
            return;
        }
    event->accept();
    m_closing = false;
}

void MainWindow::saveWindow() const {
    QStringList open;
    for (int i = 0; i < tabCount(); ++i) {
        const Document& document = tab(i)->document();
        if (document.state() == Document::State::ready)
            open += QStringList{document.request().model, document.planFile(),
                                QString::fromStdString(nameOf(document.request().trace.dtype))}
                        .join('\n');
        if (const Workspace* workspace = tab(i)->workspace(); workspace && tab(i) == currentTab())
            workspace->save();
    }
    QSettings settings;
    settings.setValue(kGeometry, saveGeometry());
    settings.setValue(kOpen, open);
}

void MainWindow::reopenLast() {
    for (const QString& entry : QSettings().value(kOpen).toStringList()) {
        OpenRequest request;
        request.model = entry.section('\n', 0, 0);
        request.plan = entry.section('\n', 1, 1);
        request.trace = m_trace;
        // A plan is of the model in its own type: it fits no other.
        const auto dtype = traceDtypeFromName(entry.section('\n', 2).toStdString());
        if (dtype && m_trace.dtype == TraceDtype::automatic)
            request.trace.dtype = *dtype;
        else if (m_trace.dtype != dtype.value_or(TraceDtype::automatic))
            request.plan.clear();
        if (!request.plan.isEmpty() && !QFileInfo::exists(request.plan))
            request.plan.clear();
        openModel(request);
    }
}

void MainWindow::showUnsaved() {
    m_start->showUnsaved(abandonedWork(m_locations.cache));
}

} // namespace workbench::gui
