#include "app/gui/window/main_window.h"
#include "app/gui/window/plan_actions.h"
#include "app/gui/window/recent_models.h"
#include "app/gui/window/setup_dialog.h"
#include "app/gui/window/workspace.h"

#include <QtCore/QDir>
#include <QtGui/QAction>
#include <QtGui/QActionGroup>
#include <QtWidgets/QMenu>
#include <QtWidgets/QMenuBar>

/// Menus and shortcuts. Every action has a tip, which the status bar shows too.

namespace workbench::gui {

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                         std::function<void()> act) {
    QAction* action = menu->addAction(text);
    action->setShortcut(keys);
    action->setToolTip(keys.isEmpty() ? tip
                                      : tr("%1 (%2)").arg(tip, keys.toString(QKeySequence::NativeText)));
    action->setStatusTip(tip);
    connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
    return action;
}

void MainWindow::makeActions() {
    m_stop = new QAction(tr("Stop"), this);
    m_stop->setObjectName("stop");
    m_stop->setShortcut(Qt::CTRL | Qt::Key_Period);
    m_stop->setToolTip(tr("Stop what runs, at once (Ctrl+.)"));
    connect(m_stop, &QAction::triggered, this, [this] {
        if (ModelTab* tab = currentTab())
            tab->document().cancel();
    });
}

QAction* MainWindow::addForTab(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                               std::function<void(ModelTab*)> act) {
    return add(menu, text, keys, tip, [this, act = std::move(act)] {
        if (ModelTab* tab = currentTab())
            act(tab);
    });
}

QAction* MainWindow::addForReady(QMenu* menu, const QString& text, const QKeySequence& keys,
                                 const QString& tip, std::function<void(ModelTab*)> act) {
    QAction* action = addForTab(menu, text, keys, tip, std::move(act));
    m_needReady += action;
    return action;
}

void MainWindow::makeMenus() {
    makeFileMenu();
    makeEditMenu();
    makeViewMenu();
    makeModelMenu();
    makeHelpMenu();
}

void MainWindow::makeFileMenu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open model folder…"), QKeySequence::Open, tr("Open a model directory"),
        [this] { chooseFolder(); });
    add(file, tr("Open &archive…"), Qt::CTRL | Qt::SHIFT | Qt::Key_O, tr("Open a .pt2 archive"),
        [this] { chooseArchive(); });
    add(file, tr("Open by &name…"), Qt::CTRL | Qt::Key_L, tr("Open org/name from the Hugging Face cache"),
        [this] { chooseName(); });
    m_recentMenu = file->addMenu(tr("Open &recent"));
    fillRecentMenu();
    file->addSeparator();
    addForReady(file, tr("Open &plan…"), Qt::CTRL | Qt::SHIFT | Qt::Key_P,
                tr("Take the decisions of a saved plan"),
                [this](ModelTab* tab) { m_plans->chooseAndOpen(tab); });
    m_save = addForReady(file, tr("&Save plan"), QKeySequence::Save, tr("Save the decisions as a plan"),
                         [this](ModelTab* tab) { m_plans->save(tab); });
    m_save->setObjectName("save");
    addForReady(file, tr("Save plan &as…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
                tr("Save the plan under another name"), [this](ModelTab* tab) { m_plans->saveAs(tab); });
    makeExportMenu(file);
    file->addSeparator();
    addForTab(file, tr("&Close model"), QKeySequence::Close, tr("Close the model in front"),
              [this](ModelTab* tab) { closeTab(tab); });
    add(file, tr("&Quit"), QKeySequence::Quit, tr("Close all models and leave"), [this] { close(); });
}

void MainWindow::makeExportMenu(QMenu* file) {
    QMenu* exports = file->addMenu(tr("&Export"));
    const std::tuple<QString, QString, PlanActions::Format> formats[] = {
        {tr("Rewritten &source…"), tr("Each rewritten forward as source and as a diff, in a folder"),
         PlanActions::Format::source},
        {tr("Rewritten &program (.pt2)…"), tr("The rewritten program as a torch.export archive"),
         PlanActions::Format::archive},
        {tr("&Inspection (JSON)…"), tr("Module tree, coverage, and every site with its verdict"),
         PlanActions::Format::inspection},
        {tr("&Logits (safetensors)…"), tr("Runs both programs and writes their logits"),
         PlanActions::Format::logits}};
    for (const auto& [text, tip, format] : formats)
        addForReady(exports, text, {}, tip,
                    [this, format = format](ModelTab* tab) { m_plans->chooseAndExport(tab, format); });
}

void MainWindow::makeEditMenu() {
    m_editMenu = menuBar()->addMenu(tr("&Edit"));
    m_undo = addForTab(m_editMenu, tr("&Undo"), QKeySequence::Undo, tr("Take the last decision back"),
                       [](ModelTab* tab) { tab->document().undo(); });
    m_redo = addForTab(m_editMenu, tr("&Redo"), QKeySequence::Redo, tr("Decide again what was taken back"),
                       [](ModelTab* tab) { tab->document().redo(); });
    m_undo->setObjectName("undo");
    m_redo->setObjectName("redo");
    m_editMenu->addSeparator();
    m_report = addForTab(m_editMenu, tr("&Copy site report"), Qt::CTRL | Qt::SHIFT | Qt::Key_C,
                         tr("Copy what is known of the chosen site, as Markdown"),
                         [this](ModelTab* tab) { m_plans->copyReport(tab); });
    m_report->setObjectName("copyReport");
}

void MainWindow::makeViewMenu() {
    m_viewMenu = menuBar()->addMenu(tr("&View"));
    m_panelMenu = m_viewMenu->addMenu(tr("&Panels"));
    makeAppearanceMenu();
    addForReady(m_viewMenu, tr("&Reset layout"), {}, tr("Put the panels where they were at first"),
                [](ModelTab* tab) {
                    if (tab->workspace())
                        tab->workspace()->resetLayout();
                });
    add(m_viewMenu, tr("&Full screen"), QKeySequence(Qt::Key_F11), tr("Use the whole screen"),
        [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    m_viewMenu->addSeparator();
}

void MainWindow::makeAppearanceMenu() {
    QMenu* appearance = m_viewMenu->addMenu(tr("&Appearance"));
    auto* choices = new QActionGroup(this);
    const std::pair<QString, Appearance::Choice> all[] = {{tr("As the &system"), Appearance::Choice::system},
                                                          {tr("&Light"), Appearance::Choice::light},
                                                          {tr("&Dark"), Appearance::Choice::dark}};
    for (const auto& [text, choice] : all) {
        QAction* action = add(appearance, text, {}, tr("Colours of the window"),
                              [this, choice = choice] { m_appearance.choose(choice); });
        action->setCheckable(true);
        action->setChecked(m_appearance.choice() == choice);
        choices->addAction(action);
    }
}

void MainWindow::makeModelMenu() {
    m_modelMenu = menuBar()->addMenu(tr("&Model"));
    m_modelMenu->addAction(m_stop);
    addForReady(m_modelMenu, tr("Open a&gain"), QKeySequence::Refresh,
                tr("Read the model as it is on disk now; decisions stay"),
                [](ModelTab* tab) { tab->document().openAgain(); });
    addForReady(m_modelMenu, tr("&Worker…"), {},
                tr("Where the model is run: here, or on another machine over ssh"),
                [this](ModelTab* tab) { askWorker(tab); });
    m_modelMenu->addSeparator();
}

void MainWindow::makeHelpMenu() {
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("Five-minute &tour"), QKeySequence::HelpContents, tr("The workbench on a bundled example"),
        [this] { showTour(); });
    add(help, tr("&Keyboard"), Qt::CTRL | Qt::Key_F1, tr("All shortcuts"), [this] { showShortcuts(); });
    add(help, tr("&Python environment…"), {}, tr("Make or check the environment that traces and runs models"),
        [this] { (new SetupDialog(m_locations, this))->open(); })
        ->setObjectName("setUpPython");
    add(help, tr("&About"), {}, tr("Versions and licence"), [this] { showAbout(); });
}

void MainWindow::fillRecentMenu() {
    m_recentMenu->clear();
    for (const QString& model : recentModels())
        add(m_recentMenu, QDir::toNativeSeparators(model).replace('&', "&&"), {}, tr("Open %1").arg(model),
            [this, model] { openPath(model); });
    m_recentMenu->setEnabled(!m_recentMenu->isEmpty());
    if (m_recentMenu->isEmpty())
        return;
    m_recentMenu->addSeparator();
    add(m_recentMenu, tr("&Clear the list"), {}, tr("Forget which models were opened"), [this] {
        forgetModels();
        QMetaObject::invokeMethod(this, &MainWindow::fillRecentMenu, Qt::QueuedConnection);
    });
}

/// The current tab's panels bring actions of their own, behind the fixed ones. Those of a workspace that is
/// gone left the menus with it.
void MainWindow::fillPanelMenus() {
    for (QMenu* menu : {m_editMenu, m_viewMenu, m_modelMenu})
        for (const QPointer<QAction>& action : m_panelActions)
            if (action)
                menu->removeAction(action);
    m_panelActions.clear();
    m_panelMenu->clear();
    const ModelTab* tab = currentTab();
    const Workspace* workspace = tab ? tab->workspace() : nullptr;
    m_panelMenu->setEnabled(workspace != nullptr);
    if (!workspace)
        return;
    int number = 1;
    for (QAction* toggle : workspace->toggles())
        m_panelMenu->addAction(toggle);
    for (const QString& id : workspace->ids()) {
        if (number > 9)
            break;
        QAction* go =
            add(m_panelMenu, tr("Go to %1").arg(workspace->titleOf(id)),
                Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number++), tr("Show this panel"), [this, id] {
                    if (ModelTab* current = currentTab(); current && current->workspace())
                        current->workspace()->showPanel(id);
                });
        go->setObjectName("go_" + id);
    }
    const std::pair<QMenu*, Panel::Menu> menus[] = {
        {m_editMenu, Panel::Menu::edit}, {m_viewMenu, Panel::Menu::view}, {m_modelMenu, Panel::Menu::model}};
    for (const auto& [menu, kind] : menus) {
        const QList<QAction*> actions = workspace->actionsFor(kind);
        menu->addActions(actions);
        m_panelActions.append({actions.begin(), actions.end()});
    }
}

void MainWindow::updateActions() {
    ModelTab* tab = currentTab();
    const Workspace* workspace = tab ? tab->workspace() : nullptr;
    if (m_shownWorkspace != workspace) {
        m_shownWorkspace = workspace;
        fillPanelMenus();
    }
    const Document* document = tab ? &tab->document() : nullptr;
    const bool ready = document && document->state() == Document::State::ready;
    for (QAction* action : m_needReady)
        action->setEnabled(ready);
    const auto step = [](QAction* action, bool possible, const QString& plain, const QString& what) {
        action->setEnabled(possible);
        action->setText(what.isEmpty() ? plain : tr("%1: %2").arg(plain, QString(what).replace('&', "&&")));
    };
    step(m_undo, ready && document->canUndo(), tr("&Undo"), ready ? document->undoText() : QString());
    step(m_redo, ready && document->canRedo(), tr("&Redo"), ready ? document->redoText() : QString());
    m_report->setEnabled(ready && tab->selection().site());
}

} // namespace workbench::gui
