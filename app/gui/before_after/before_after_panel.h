#pragma once

#include "app/gui/before_after/pane_sync.h"
#include "app/gui/document/panel.h"

class QLabel;
class QSplitter;
class QStackedLayout;

namespace workbench::gui {

class StepBar;

/// The original and the rewritten graph beside each other, step by step.
class BeforeAfterPanel : public Panel {
    Q_OBJECT
public:
    BeforeAfterPanel(Document& document, Selection& selection, QWidget* parent);

    PaneSync& sync() const { return *m_sync; }
    int step() const { return m_at; } ///< among the steps of the chosen pattern, -1: none
    void goTo(int step);              ///< selects its site for all panels

    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;
    QList<QAction*> actionsFor(Menu menu) override;
    void themeChanged() override;

Q_SIGNALS:
    void updated(); ///< the panes belong to the document's decisions again

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void build();
    QWidget* buildSide(GraphSide side);
    void refresh();
    void take(std::shared_ptr<const Rewritten> rewritten, std::shared_ptr<const Correspondence> map);
    void filterSteps();
    void stepBy(int by);
    void showStep(int index); ///< the nearest one
    void tell(GraphSide side);
    void takeSelection();
    int stepOf(const std::string& site) const; ///< of a site's id; -1: it is none of the steps
    int stepChosen() const;                    ///< of the selection's site, likewise
    QString sideText(GraphSide side) const;
    QString stepText(const RewriteStep& step) const;

    QStackedLayout* m_pages;
    QLabel* m_hint;
    StepBar* m_bar;
    QSplitter* m_splitter;
    QLabel *m_titles[2], *m_fate, *m_key;
    CanvasPane* m_panes[2];
    PaneSync* m_sync;
    QList<QAction*> m_actions;
    std::shared_ptr<const Rewritten> m_rewritten; ///< what the panes show
    std::vector<RewriteStep> m_steps;             ///< of the chosen pattern
    int m_at = -1;
    bool m_stale = true; ///< the decisions changed since
    bool m_choosing = false;
    std::string m_siteShown; ///< id: stays the step when decisions change
    Jobs m_jobs;             ///< last: its threads end first
};

} // namespace workbench::gui
