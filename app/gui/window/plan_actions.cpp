#include "app/gui/window/plan_actions.h"

#include "app/gui/window/model_tab.h"
#include "app/session/site_report.h"

#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QStandardPaths>
#include <QtGui/QClipboard>
#include <QtGui/QGuiApplication>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QPushButton>

namespace workbench::gui {
namespace {

QString planFilter() {
    return PlanActions::tr("Fusion plans (*.json);;All files (*)");
}

/// Beside the plan that is open, else in the user's documents: a model's folder may be a read-only cache.
QString firstName(const Document& document, const QString& ending) {
    const QFileInfo plan(document.planFile());
    const QString folder = document.planFile().isEmpty()
                               ? QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)
                               : plan.absolutePath();
    return QDir(folder).filePath(document.title() + ending);
}

} // namespace

PlanActions::PlanActions(QWidget& window) : QObject(&window), m_window(window) {}

void PlanActions::tellProblem(const Tab& tab, const Error& error) {
    if (tab && error.code != ErrorCode::cancelled)
        tab->notices().tell(NoticeBar::Kind::problem, QString::fromStdString(error.message));
}

void PlanActions::chooseAndOpen(ModelTab* tab) {
    const QString file = QFileDialog::getOpenFileName(
        &m_window, tr("Open a plan"), QFileInfo(firstName(tab->document(), "")).absolutePath(), planFilter());
    if (!file.isEmpty())
        open(tab, file);
}

void PlanActions::open(ModelTab* tab, const QString& file) {
    tab->document().openPlan(file, [this, tab = Tab(tab)](const Status& opened) {
        if (!opened)
            tellProblem(tab, opened.error());
    });
}

void PlanActions::save(ModelTab* tab, Saved after) {
    const QString file = tab->document().planFile();
    if (file.isEmpty())
        saveAs(tab, std::move(after));
    else
        saveTo(tab, file, false, after);
}

void PlanActions::saveAs(ModelTab* tab, Saved after) {
    QString file = tab->document().planFile();
    if (file.isEmpty())
        file = firstName(tab->document(), "-plan.json");
    file = QFileDialog::getSaveFileName(&m_window, tr("Save the plan"), file, planFilter());
    if (file.isEmpty()) {
        if (after)
            after(false);
        return;
    }
    if (QFileInfo(file).suffix().isEmpty())
        file += ".json";
    saveTo(tab, file, true, after); // the dialog asked before it gave the name of a file that is there
}

void PlanActions::saveTo(const Tab& tab, const QString& file, bool replace, const Saved& after) {
    tab->document().savePlan(file, replace ? Document::Overwrite::always : Document::Overwrite::ifUnchanged,
                             [this, tab, file, after](const Status& saved) {
                                 if (!saved && saved.error().code == ErrorCode::usage)
                                     return askAboutConflict(tab, file, saved.error(), after);
                                 if (!saved)
                                     tellProblem(tab, saved.error());
                                 if (after)
                                     after(saved.ok());
                             });
}

void PlanActions::askAboutConflict(const Tab& tab, const QString& file, const Error& error,
                                   const Saved& after) {
    if (!tab)
        return;
    auto* box = new QMessageBox(QMessageBox::Warning, tr("The plan was changed"),
                                QString::fromStdString(error.message), QMessageBox::Cancel, &m_window);
    box->setObjectName("askConflict");
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("Nothing was written yet, and your decisions are still here."));
    QPushButton* other = box->addButton(tr("Save under another name"), QMessageBox::AcceptRole);
    QPushButton* replace = box->addButton(tr("Replace theirs"), QMessageBox::DestructiveRole);
    other->setObjectName("saveElsewhere");
    replace->setObjectName("replaceTheirs");
    box->setDefaultButton(other);
    connect(box, &QMessageBox::buttonClicked, this,
            [this, tab, file, after, other, replace](QAbstractButton* button) {
                if (tab && button == replace)
                    saveTo(tab, file, true, after);
                else if (tab && button == other)
                    saveAs(tab, after);
                else if (after)
                    after(false);
            });
    box->open();
}

void PlanActions::copyReport(ModelTab* tab) {
    if (!tab->selection().site())
        return;
    const Document& document = tab->document();
    QGuiApplication::clipboard()->setText(QString::fromStdString(
        siteReport(document.session(), *document.rewritten(), *tab->selection().site())));
    tab->notices().tell(NoticeBar::Kind::note, tr("The site's report is in the clipboard, as Markdown."));
}

} // namespace workbench::gui
