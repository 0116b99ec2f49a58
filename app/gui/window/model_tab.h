#pragma once

#include "app/gui/window/notice_bar.h"
#include "app/gui/window/panels.h"

class QStackedWidget;

namespace workbench::gui {

class ErrorPage;
class OpeningPage;
class Workspace;

/// One model: what goes on while it is opened, why it failed, or its panels; and notices above.
class ModelTab : public QWidget {
    Q_OBJECT
public:
    ModelTab(const Locations& locations, QWidget* parent = nullptr);
    ~ModelTab() override;

    Document& document() { return m_document; }
    Selection& selection() { return m_selection; }
    Workspace* workspace() const { return m_workspace; } ///< nullptr: not ready
    NoticeStack& notices() { return *m_notices; }
    void retire();         ///< cancels its work, and deletes itself when that has ended
    QString title() const; ///< "model *" when something is unsaved

Q_SIGNALS:
    void titleChanged();
    void workspaceChanged(); ///< made or gone
    void closeWanted();

private:
    void stateChanged();
    void showFailure();
    void offerSetup();
    void watchDocument();
    void tellReplaced();
    void tellPlanReplaced();

    Document m_document;
    Selection m_selection;
    NoticeStack* m_notices;
    QStackedWidget* m_pages;
    OpeningPage* m_opening;
    ErrorPage* m_error;
    Workspace* m_workspace = nullptr;
};

} // namespace workbench::gui
