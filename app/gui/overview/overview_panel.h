#pragma once

#include "app/gui/document/panel.h"
#include "app/session/overview.h"

class QLabel;
class QListView;
class QPushButton;
class QSortFilterProxyModel;
class QSplitter;
class QTreeView;

namespace workbench::gui {

class CoverageModel;
class LeftModel;
class ModuleModel;

/// The model at a glance: how much of each pattern is fused, its modules, what is left and why.
class OverviewPanel : public Panel {
    Q_OBJECT
public:
    OverviewPanel(Document& document, Selection& selection, QWidget* parent);
    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;

protected:
    void focusInEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeCoverage();
    void makeTree(QSplitter* parts);
    void makeLeft(QSplitter* parts);
    void fitCoverage();
    void compute();
    void showOverview(Overview overview);
    void follow();

    QLabel* m_headline;
    QPushButton* m_applyAll;
    QSplitter* m_parts;
    CoverageModel* m_coverage;
    QListView* m_coverageView = nullptr;
    ModuleModel* m_modules;
    QTreeView* m_tree = nullptr;
    LeftModel* m_left;
    QSortFilterProxyModel* m_leftFilter;
    QTreeView* m_leftView = nullptr;
    QLabel* m_leftHint = nullptr;
    bool m_following = false; ///< the selection moves the tree, not the other way round
};

} // namespace workbench::gui
