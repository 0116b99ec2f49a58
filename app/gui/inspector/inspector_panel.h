#pragma once

#include "app/gui/document/panel.h"
#include "app/gui/inspector/evidence.h"

#include <QtCore/QTimer>
#include <QtWidgets/QScrollArea>

#include <set>

namespace workbench::gui {

/// What there is to know of the chosen site, node or module.
class InspectorPanel : public Panel {
    Q_OBJECT
public:
    InspectorPanel(Document& document, Selection& selection, QWidget* parent);

    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;
    void themeChanged() override { m_refresh.start(); }

protected:
    void showEvent(QShowEvent* event) override;

private:
    void selectionChanged();
    void rebuild();
    void follow(const QString& target);

    Evidence* m_evidence;
    QScrollArea* m_scroll;
    QTimer m_refresh;           ///< many reasons to draw anew within one turn of the event loop are one
    std::set<QString> m_closed; ///< names of folded sections
    std::string m_weight;       ///< the module page's parameter with its numbers shown
    bool m_keepPlace = false;   ///< the same thing is shown again: where it is scrolled to stays
};

} // namespace workbench::gui
