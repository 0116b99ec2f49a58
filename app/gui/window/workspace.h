#pragma once

#include "app/gui/window/panels.h"

#include <QtWidgets/QMainWindow>

#include <vector>

class QDockWidget;
class QTabWidget;

namespace workbench::gui {

/// The panels of a ready document, docked around a centre. Their places, sizes and own states are saved when
/// it goes and come back with the next one.
class Workspace : public QMainWindow {
    Q_OBJECT
public:
    Workspace(Document& document, Selection& selection, const std::vector<PanelSpec>& specs, QWidget* parent);
    ~Workspace() override;

    Panel* panel(const QString& id) const; ///< nullptr: there is none
    std::vector<QString> ids() const;
    QString titleOf(const QString& id) const;
    void showPanel(const QString& id); ///< opened, raised and focused
    QList<QAction*> toggles() const;   ///< one for each panel, for the View menu
    QList<QAction*> actionsFor(Panel::Menu menu) const;
    void resetLayout();
    void save() const;

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    struct Entry {
        PanelSpec spec;
        Panel* panel = nullptr;
        QDockWidget* dock = nullptr; ///< nullptr: in the centre
        QAction* toggle = nullptr;
    };
    void add(const PanelSpec& spec, Document& document, Selection& selection);
    void addDock(Entry& entry);
    void placeDocks();
    void sizeDocks();
    void tellTheme();
    void updateTitles();
    void restore();
    const Entry* find(const QString& id) const;

    QTabWidget* m_centre;
    std::vector<Entry> m_entries;
    bool m_sized = false; ///< by the saved state, or at the first show
};

} // namespace workbench::gui
