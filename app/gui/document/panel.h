#pragma once

#include "app/gui/document/document.h"
#include "app/gui/document/selection.h"

#include <QtCore/QSettings>
#include <QtWidgets/QWidget>

namespace workbench::gui {

/// A part of a tab that shows the document and the selection. It exists while the document is ready.
class Panel : public QWidget {
    Q_OBJECT
public:
    Panel(Document& document, Selection& selection, QWidget* parent)
        : QWidget(parent), m_document(document), m_selection(selection) {}

    /// Sizes, filters, what is open: in the group of the panel.
    virtual void saveState(QSettings&) const {}
    virtual void restoreState(const QSettings&) {}

    /// Actions for the window's menus, made once; enabled while they make sense. Their shortcuts must have
    /// the context Qt::WidgetWithChildrenShortcut or be listed in window/shortcuts.
    enum class Menu { edit, view, model };
    virtual QList<QAction*> actionsFor(Menu) { return {}; }

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
