#include "app/gui/window/main_window.h"
#include "app/gui/window/plan_actions.h"
#include "app/gui/window/workspace.h"

#include <QtCore/QFileInfo>
#include <QtCore/QMimeData>
#include <QtCore/QSet>
#include <QtCore/QUrl>
#include <QtGui/QDropEvent>
#include <QtWidgets/QStatusBar>

/// What is dropped on the window: models, plans and measurements.

namespace workbench::gui {
namespace {

constexpr int kMessageMs = 8000;

QStringList localFiles(const QMimeData& data) {
    QStringList files;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile() && !url.toLocalFile().isEmpty())
            files += QFileInfo(url.toLocalFile()).absoluteFilePath();
    files.removeDuplicates();
    return files;
}

bool holdsModel(const QString& folder) {
    return QFileInfo::exists(folder + "/config.json");
}

/// The folder of a model that one of its files stands for: config.json or weights. Empty: none.
QString modelOf(const QFileInfo& file) {
    const bool isPart = file.fileName() == "config.json" ||
                        (file.suffix() == "safetensors" && holdsModel(file.absolutePath()));
    return file.isFile() && isPart ? file.absolutePath() : QString();
}

} // namespace

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!localFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    openDropped(localFiles(*event->mimeData()));
    event->acceptProposedAction();
}

/// Models get tabs of their own; plans and measurements go to the model that was dropped with them, else to
/// the one in front. All files of a model's folder are that one model.
void MainWindow::openDropped(const QStringList& files) {
    QSet<QString> folders;
    for (const QString& file : files)
        if (const QString folder = modelOf(QFileInfo(file)); !folder.isEmpty() && !folders.contains(folder)) {
            folders.insert(folder);
            openPath(folder);
        }
    QStringList others;
    for (const QString& file : files) {
        const QFileInfo info(file);
        if (info.isFile() && (folders.contains(info.absolutePath()) || !modelOf(info).isEmpty()))
            continue;
        if (info.isFile() && info.suffix() == "json")
            others += file;
        else
            openPath(file);
    }
    for (const QString& file : others) {
        if (ModelTab* tab = currentTab())
            takeForModel(tab, file);
        else
            statusBar()->showMessage(
                tr("%1 belongs to a model: open the model first.").arg(QFileInfo(file).fileName()),
                kMessageMs);
    }
}

void MainWindow::takeForModel(ModelTab* tab, const QString& file) {
    Document& document = tab->document();
    if (document.state() == Document::State::opening) {
        auto* waiting = new QObject(tab);
        connect(&document, &Document::stateChanged, waiting, [this, tab, file, waiting] {
            waiting->deleteLater();
            waiting->disconnect();
            tab->document().disconnect(waiting);
            // Panels are made by whoever else hears of it: after them.
            QMetaObject::invokeMethod(
                tab, [this, tab, file] { takeForModel(tab, file); }, Qt::QueuedConnection);
        });
        return;
    }
    if (document.state() != Document::State::ready || !tab->workspace()) {
        tab->notices().tell(
            NoticeBar::Kind::problem,
            tr("%1 belongs to a model, and this one could not be opened.").arg(QFileInfo(file).fileName()));
        return;
    }
    for (const QString& id : tab->workspace()->ids())
        if (tab->workspace()->panel(id)->openFile(file)) {
            tab->workspace()->showPanel(id);
            return;
        }
    m_plans->open(tab, file);
}

} // namespace workbench::gui
