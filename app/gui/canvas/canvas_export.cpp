#include "app/draw/export.h"
#include "app/gui/canvas/canvas_panel.h"

#include <QtCore/QStandardPaths>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QMessageBox>

#include <algorithm>

/// Pictures of what is seen.

namespace workbench::gui {

void CanvasPanel::exportSeen(const QString& file, std::function<void(Status)> done) {
    const CanvasView& view = m_pane->view();
    const std::shared_ptr<const Scene> scene = m_pane->picture().scene;
    if (!scene)
        return done(Error{ErrorCode::usage, "There is no drawing to export yet.", {}});
    PaintOptions paint = view.paintOptions();
    paint.scale = std::max(view.zoom(), 1.0);
    ExportOptions options;
    options.part = view.visiblePart() & scene->bounds;
    options.title = document().title();
    if (!scene->diagram.scope.empty())
        options.title += " · " + QString::fromStdString(scene->diagram.scope);
    options.legend.entries = legendOf(scene->diagram, *m_marks);
    if (m_overlay) {
        options.legend.overlay = QString::fromStdString(m_overlay->name);
        options.legend.overlayEnd =
            QString::fromStdString(overlayText(*m_overlay, largestTotal(*m_overlay, scene->diagram)));
    }
    m_jobs.start(this, [=, colours = m_pane->colours(), path = file.toStdString()](const Job&) -> Closure {
        const Status status = guarded<Ok>([&] { return exportPicture(path, *scene, paint, options); });
        return [done, status] { done(status); };
    });
}

void CanvasPanel::askForFile(const QString& suffix) {
    QString name = document().title();
    if (const std::string& scope = m_pane->picture().request.scope; !scope.empty())
        name += "-" + QString::fromStdString(scope);
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    auto* dialog =
        new QFileDialog(this, tr("Export what is seen"), folder, tr("Pictures (*.%1)").arg(suffix));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(name.replace('/', '-') + "." + suffix);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        exportSeen(file, [this](const Status& status) {
            if (status)
                return;
            auto* box =
                new QMessageBox(QMessageBox::Warning, tr("Export"),
                                QString::fromStdString(status.error().message), QMessageBox::Ok, this);
            box->setAttribute(Qt::WA_DeleteOnClose);
            box->open();
        });
    });
    dialog->open();
}

} // namespace workbench::gui
