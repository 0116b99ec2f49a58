#include "app/gui/window/consent_dialog.h"

#include <QtCore/QStringList>
#include <QtWidgets/QPushButton>

namespace workbench::gui {

ConsentDialog::ConsentDialog(const OwnCode& code, QWidget* parent) : QMessageBox(parent) {
    setObjectName("consent");
    setAttribute(Qt::WA_DeleteOnClose);
    setIcon(Warning);
    setWindowTitle(tr("Run the model's own code?"));
    setText(tr("This model brings Python code of its own, which has to run for its graph to be traced."));
    setInformativeText(
        tr("Code runs with your rights: it can read and change your files. Read it, or run it only when you "
           "trust whoever made the model.\n\nFolder: %1\nThe answer holds for this opening alone.")
            .arg(QString::fromStdString(code.directory.string())));
    QStringList lines;
    for (const std::string& name : code.classes)
        lines += name.find("--") == std::string::npos
                     ? QString::fromStdString(name)
                     : tr("%1 (from another repository)").arg(QString::fromStdString(name));
    lines += QString();
    for (const std::filesystem::path& file : code.files)
        lines += QString::fromStdString(file.string());
    setDetailedText(lines.join('\n'));
    auto* run = addButton(tr("Run it"), AcceptRole);
    auto* stop = addButton(tr("Do not run it"), RejectRole);
    run->setObjectName("runCode");
    setDefaultButton(stop);
    setEscapeButton(stop);
    connect(this, &QMessageBox::buttonClicked, this, [this, run](QAbstractButton* button) {
        if (button == run)
            Q_EMIT consented();
    });
}

} // namespace workbench::gui
