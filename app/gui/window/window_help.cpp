#include "app/gui/window/help_dialogs.h"
#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"

#include <QtWidgets/QInputDialog>

namespace workbench::gui {

/// The example that is bundled is opened, and steps follow beside the window.
void MainWindow::showTour() {
    if (auto* shown = findChild<TourDialog*>()) {
        shown->raise();
        shown->activateWindow();
        return;
    }
    OpenRequest example;
    example.model = QString::fromStdString((m_locations.resources / "example").string());
    openModel(example);
    auto* tour = new TourDialog(this);
    connect(tour, &TourDialog::panelWanted, this, [this](const QString& id) {
        if (ModelTab* tab = currentTab(); tab && tab->workspace())
            tab->workspace()->showPanel(id);
    });
    tour->show();
    tour->move(geometry().bottomRight() - QPoint(tour->width() + 24, tour->height() + 48));
}

void MainWindow::showAbout() {
    std::map<std::string, std::string> traced;
    if (ModelTab* tab = currentTab(); tab && tab->document().state() == Document::State::ready)
        traced = tab->document().session().model().facts.versions;
    makeAboutDialog(this, traced)->open();
}

void MainWindow::showShortcuts() {
    makeShortcutsDialog(*this, this)->open();
}

void MainWindow::askWorker(ModelTab* tab) {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("askWorker");
    dialog->setWindowTitle(tr("Worker"));
    dialog->setLabelText(tr("Command that starts the worker; empty for the one on this machine.\n"
                            "Another machine: ssh gpubox workbench-worker. Models run on its CPU, not on its "
                            "GPU, for now."));
    dialog->setTextValue(tab->document().worker());
    connect(dialog, &QInputDialog::textValueSelected, &tab->document(), &Document::setWorker);
    dialog->open();
}

} // namespace workbench::gui
