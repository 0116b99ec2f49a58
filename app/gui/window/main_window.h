#pragma once

#include "app/gui/window/appearance.h"
#include "app/gui/window/model_tab.h"

#include <QtWidgets/QMainWindow>

class QLabel;
class QMenu;
class QProgressBar;
class QStackedWidget;
class QTabWidget;
class QToolButton;

namespace workbench::gui {

class PlanActions;
class StartPage;

/// The window: a tab for each model, menus, and the state of the work below.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(const Locations& locations, Appearance& appearance, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Of the models that are opened from now on, where an OpenRequest of theirs says nothing else.
    void setWorker(const QString& command) { m_worker = command; }
    void setTrace(const TraceOptions& trace) { m_trace = trace; }
    ModelTab* openModel(const OpenRequest& request); ///< in a tab of its own; an open one is shown again
    ModelTab* currentTab() const;                    ///< nullptr: the start page
    int tabCount() const;
    ModelTab* tab(int index) const;
    void reopenLast();  ///< the models of the last time
    void showUnsaved(); ///< looks for work that a crash left

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // window_menus.cpp
    void makeActions();
    void makeMenus();
    void makeFileMenu();
    void makeExportMenu(QMenu* file);
    void makeEditMenu();
    void makeViewMenu();
    void makeAppearanceMenu();
    void makeModelMenu();
    void makeHelpMenu();
    void fillRecentMenu();
    void fillPanelMenus();
    void updateActions();
    QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                 std::function<void()> act);
    /// For the model in front, if there is one.
    QAction* addForTab(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                       std::function<void(ModelTab*)> act);
    /// The same, enabled while that model is ready.
    QAction* addForReady(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                         std::function<void(ModelTab*)> act);

    // dropped_files.cpp
    void openDropped(const QStringList& files);
    void takeForModel(ModelTab* tab, const QString& file); ///< a plan or a measurement, once it is ready

    // main_window.cpp
    void chooseFolder();
    void chooseArchive();
    void chooseName();
    ModelTab* openPath(const QString& path);
    void tabChanged();
    void updateTitle(ModelTab* tab);
    void updateStatus();
    void closeTab(ModelTab* tab);
    void closeTabThen(ModelTab* tab, std::function<void()> after);
    void remove(ModelTab* tab);
    void saveWindow() const;
    void showTour();
    void showAbout();
    void showShortcuts();
    void askWorker(ModelTab* tab);

    Locations m_locations;
    QString m_worker;
    TraceOptions m_trace;
    Appearance& m_appearance;
    QStackedWidget* m_pages;
    StartPage* m_start;
    QTabWidget* m_tabs;
    PlanActions* m_plans;

    QMenu* m_recentMenu = nullptr;
    QMenu* m_editMenu = nullptr;
    QMenu* m_viewMenu = nullptr;
    QMenu* m_modelMenu = nullptr;
    QMenu* m_panelMenu = nullptr;
    QList<QPointer<ModelTab>> m_retired;     ///< closed, while their work ends
    QList<QPointer<QAction>> m_panelActions; ///< of the current tab, in the menus
    QList<QAction*> m_needReady;             ///< enabled with a ready model
    QAction* m_undo = nullptr;
    QAction* m_redo = nullptr;
    QAction* m_save = nullptr;
    QAction* m_stop = nullptr;
    QAction* m_report = nullptr;

    QLabel* m_stage;
    QLabel* m_facts;
    QProgressBar* m_progress;
    QToolButton* m_stopButton;
    const Workspace* m_shownWorkspace = nullptr; ///< whose actions are in the menus; never looked into
    bool m_closing = false;
};

} // namespace workbench::gui
