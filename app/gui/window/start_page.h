#pragma once

#include "app/session/autosave.h"

#include <QtWidgets/QWidget>

class QListWidget;
class QVBoxLayout;

namespace workbench::gui {

/// What a window without a model shows: where to begin.
class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);
    void showRecent();
    void showUnsaved(std::vector<Autosaved> work); ///< of windows that are gone

Q_SIGNALS:
    void folderWanted();
    void fileWanted();
    void nameWanted();
    void tourWanted();
    void modelChosen(const QString& model);
    void unsavedChosen(const std::shared_ptr<const Autosaved>& work);

private:
    QWidget* makeBeginning();
    void showUnsavedList();

    QListWidget* m_recent;
    QWidget* m_unsavedBox;
    QVBoxLayout* m_unsavedList;
    std::vector<std::shared_ptr<const Autosaved>> m_unsaved;
};

} // namespace workbench::gui
