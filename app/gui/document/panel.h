#pragma once

#include "app/gui/document/document.h"
#include "app/gui/document/selection.h"

#include <QtCore/QSettings>
#include <QtWidgets/QWidget>

namespace workbench::gui {

/// A part of a tab that shows the document and the selection. It exists while the document is ready. Its
/// object name is its id in window/panels.cpp.
class Panel : public QWidget {
    Q_OBJECT
public:
    Panel(Document& document, Selection& selection, QWidget* parent)
        : QWidget(parent), m_document(document), m_selection(selection) {}

    /// Sizes, filters, what is open: in the group of the panel.
    virtual void saveState(QSettings&) const {}
    virtual void restoreState(const QSettings&) {}

    /// Actions for the window's menus, made once; enabled while they make sense. Their shortcuts must have
    /// the context Qt::WidgetWithChildrenShortcut: a key of the whole window is an action of its own menus,
    /// see window/window_menus.cpp.
    enum class Menu { edit, view, model };
    virtual QList<QAction*> actionsFor(Menu) { return {}; }

    /// Opens a file that was dropped on the window. False: it is of another kind, and nothing happens.
    virtual bool openFile(const QString&) { return false; }

    /// The colours changed: light or dark.
    virtual void themeChanged() {}

protected:
    Document& document() const { return m_document; }
    Selection& selection() const { return m_selection; }

private:
    Document& m_document;
    Selection& m_selection;
};

} // namespace workbench::gui
