#pragma once

#include "app/diagram/search.h"
#include "app/gui/canvas/canvas_pane.h"
#include "app/gui/document/panel.h"

class QComboBox;
class QLabel;
class QMenu;
class QToolButton;

namespace workbench::gui {

class Breadcrumbs;
class HitList;
class HitsModel;
class LegendBar;
class SearchBar;

/// The graph of the model: where am I, search, the drawing, and what its colours mean.
class CanvasPanel : public Panel {
    Q_OBJECT
public:
    CanvasPanel(Document& document, Selection& selection, QWidget* parent);

    CanvasPane& pane() const { return *m_pane; }

    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;
    QList<QAction*> actionsFor(Menu menu) override;
    void themeChanged() override;

    /// Writes what is seen; the suffix says the kind, .png or .svg. `done` is called later, in this thread.
    void exportSeen(const QString& file, std::function<void(Status)> done);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void build();
    QWidget* buildBar();
    void makeActions();
    QAction* action(const char* name, const QString& text, const QKeySequence& keys, Menu menu,
                    std::function<void()> act);

    void scopeShown();
    void updateMarks();
    void updateLegend();
    void updateOverlay();
    void showTotal();
    void showMenu(std::int32_t box, const QPoint& position);
    void askForFile(const QString& suffix);
    void goToSibling(int step);

    void tellSelection(); ///< from the canvas to the others
    void takeSelection(); ///< from the others to the canvas, moved into sight
    void chooseSelected();
    std::vector<NodeId> nodesOfSelection() const;
    void reveal();

    void search(const QString& text);
    void takeHits(std::vector<SearchHit> hits);
    void stepHit(int step);
    void chooseHit(int hit);
    void markHits();
    void showHits();

    CanvasPane* m_pane;
    Breadcrumbs* m_way;
    SearchBar* m_search;
    HitsModel* m_hits;
    HitList* m_hitList;
    LegendBar* m_legend;
    QComboBox* m_overlayChoice;
    QLabel *m_total, *m_zoom;
    std::map<Menu, QList<QAction*>> m_menus;
    std::map<QString, QAction*> m_actions;
    std::shared_ptr<const Overlay> m_overlay;
    std::shared_ptr<const std::vector<NodeMark>> m_marks;
    std::string m_firstScope;
    bool m_started = false;  ///< the first drawing was asked for
    bool m_choosing = false; ///< the selection that changes comes from here

    std::shared_ptr<const SearchIndex> m_index;
    JobHandle m_searching;     ///< valid until the hits are there
    std::int64_t m_ticket = 0; ///< of the last search
    int m_hit = -1;
    int m_stepWhenFound = 0; ///< the step that was asked for while the search ran; 0: none
    Jobs m_jobs;             ///< last: its threads end first
};

} // namespace workbench::gui
