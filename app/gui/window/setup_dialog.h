#pragma once

#include "app/gui/document/jobs.h"
#include "app/session/setup.h"

#include <QtWidgets/QDialog>

class QLabel;
class QProgressBar;
class QPushButton;

namespace workbench::gui {

/// `workbench setup` in the window: says what it takes, makes and checks the Python environment when the user
/// wants it, shows how far it is, and can be cancelled. Closing it cancels too.
class SetupDialog : public QDialog {
    Q_OBJECT
public:
    explicit SetupDialog(Locations locations, QWidget* parent = nullptr);

Q_SIGNALS:
    void completed(); ///< the environment is there and works

private:
    void start();
    void finish(const Result<SetupReport>& result);
    void showRunning(bool running);

    Locations m_locations;
    QLabel* m_text;
    QLabel* m_detail;
    QProgressBar* m_progress;
    QPushButton* m_start;
    QPushButton* m_close;
    JobHandle m_running;
    Jobs m_jobs; ///< last: its threads end first
};

} // namespace workbench::gui
