#pragma once

#include "app/gui/decisions/scope_bar.h"
#include "app/gui/document/panel.h"

#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QStackedWidget>
#include <QtWidgets/QTableView>

namespace workbench {
struct VerifyReport;
}

namespace workbench::gui {

/// Every site as a row: what it is, what becomes of it and why, what it is worth, what was proven; and all
/// ways to decide them.
class DecisionsPanel : public Panel {
    Q_OBJECT
public:
    DecisionsPanel(Document& document, Selection& selection, QWidget* parent);

    void saveState(QSettings& settings) const override;
    void restoreState(const QSettings& settings) override;
    QList<QAction*> actionsFor(Menu menu) override;
    void themeChanged() override;

private:
    struct Actions {
        QAction *apply, *reject, *undecided, *reveal, *other, *copy, *verifyAll, *verifySelected;
    };

    void makeActions();
    void build();
    QWidget* makeToolBar();
    QWidget* makeTable();
    void sizeRowsAndColumns();
    QWidget* makeNoteBar();
    void connectTable();

    std::vector<std::size_t> selectedSites() const;
    std::optional<std::size_t> currentSite() const;
    void decideSelected(Decision decision);
    void rejectSelected();
    void showSelection();  ///< of the window in the table
    void selectionMoved(); ///< in the table
    void followOther(const QModelIndex& index);
    void goTo(std::size_t site);
    void showNote();
    void updateActions();
    void updateEmpty();
    void showColumns();
    void estimate();
    void copyReports();
    void verify(bool selectedOnly);
    void verifyNow(bool selectedOnly);
    void tellResult(const Result<VerifyReport>& report, std::size_t asked);
    void tell(const QString& text, bool good);
    void updateVerify();

    SitesModel* m_model;
    SitesFilter* m_filter;
    ScopeBar* m_scope = nullptr;
    VerdictChips* m_chips = nullptr;
    QLineEdit* m_text = nullptr;
    QComboBox* m_tokens = nullptr;
    QTableView* m_table = nullptr;
    QStackedWidget* m_stack = nullptr;
    QLabel* m_empty = nullptr;
    QLineEdit* m_note = nullptr;
    QLabel* m_result = nullptr;
    QToolButton* m_verify = nullptr;
    Actions m_actions{};
    JobHandle m_verification, m_estimation;
    bool m_verifying = false;
    bool m_following = false; ///< the table follows the window's selection
};

} // namespace workbench::gui
