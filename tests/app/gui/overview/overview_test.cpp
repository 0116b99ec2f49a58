#include "app/gui/overview/coverage_view.h"
#include "app/gui/overview/left_model.h"
#include "app/gui/overview/module_model.h"
#include "app/gui/overview/overview_panel.h"
#include "tests/app/gui/support/small_model.h"

#include <QtTest/QAbstractItemModelTester>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QListView>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTreeView>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

constexpr auto kFail = QAbstractItemModelTester::FailureReportingMode::Fatal;

class OpenOverview : public testing::Test {
protected:
    void SetUp() override {
        openSmallModel(m_document);
        m_panel = std::make_unique<OverviewPanel>(m_document, m_selection, nullptr);
        m_panel->resize(320, 800);
        m_panel->show();
        ASSERT_TRUE(waitFor([&] { return view<QListView>("coverage")->model()->rowCount() > 0; }));
    }
    template <class T>
    T* view(const char* name) const {
        return m_panel->findChild<T*>(name);
    }
    QString shown(const QModelIndex& index, int column = 0) const {
        return index.siblingAtColumn(column).data().toString();
    }
    QModelIndex moduleRow(const QString& text) const {
        const QAbstractItemModel* model = view<QTreeView>("modules")->model();
        const QModelIndexList found = model->match(model->index(0, 0), Qt::DisplayRole, text, 1,
                                                   Qt::MatchStartsWith | Qt::MatchRecursive);
        return found.value(0);
    }
    QStringList left() const {
        QStringList rows;
        const QAbstractItemModel* model = view<QTreeView>("left")->model();
        for (int row = 0; row < model->rowCount(); ++row)
            rows += shown(model->index(row, LeftModel::what));
        return rows;
    }
    QString coverageOf(const QString& pattern) const {
        const QAbstractItemModel* model = view<QListView>("coverage")->model();
        for (int row = 0; row < model->rowCount(); ++row)
            if (model->index(row, 0).data(CoverageModel::pattern) == pattern)
                return model->index(row, 0).data(Qt::AccessibleTextRole).toString();
        return {};
    }

    Document m_document{Locations::find()};
    Selection m_selection;
    std::unique_ptr<OverviewPanel> m_panel;
};

TEST_F(OpenOverview, FoldsAlikeLayersAndMarksTheOddOne) {
    EXPECT_EQ(shown(moduleRow("0-2")), "0-2  ×3");
    EXPECT_EQ(shown(moduleRow("3")), "3  (differs)");
}

TEST_F(OpenOverview, SaysHowMuchOfEachPatternIsFoundAndDone) {
    EXPECT_EQ(coverageOf("qkv"), "qkv, 4 of 4 found, 0 done");
    EXPECT_EQ(coverageOf("gate-up"), "gate-up, 3 of 4 found, 0 done");
    QTest::mouseClick(view<QPushButton>("applyAll"), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return coverageOf("gate-up").endsWith("3 done"); }));
    EXPECT_EQ(coverageOf("qkv"), "qkv, 4 of 4 found, 4 done");
    EXPECT_FALSE(view<QPushButton>("applyAll")->isVisible());
}

TEST_F(OpenOverview, ListsWhatIsLeftWithTheReason) {
    m_document.setDecisions({}, "nothing");
    view<QPushButton>("applyAll")->click();
    const QStringList refused = {"qk-norm-rope@layers.{0-3}.self_attn  ×4",
                                 "add-rms-norm@layers.0.input_layernorm", "gate-up@layers.3.mlp"};
    ASSERT_TRUE(waitFor([&] { return left() == refused; })) << left().join(", ").toStdString();
    const QModelIndex row = view<QTreeView>("left")->model()->index(2, LeftModel::why);
    EXPECT_TRUE(row.data().toString().contains("aten.mish.default")) << row.data().toString().toStdString();
    const QString read = row.siblingAtColumn(LeftModel::what).data(Qt::AccessibleTextRole).toString();
    EXPECT_TRUE(read.startsWith("1 places of gate-up@layers.3.mlp, refused: ")) << read.toStdString();
    EXPECT_TRUE(read.contains("aten.mish.default")) << read.toStdString();
}

TEST_F(OpenOverview, WhatWasRejectedIsLeftWithTheUsersNote) {
    const auto& sites = m_document.analysis().sites;
    std::size_t last = 0;
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (sites[i].verdict == SiteVerdict::applicable)
            last = i;
    m_document.apply({last}, Decision::reject, "reject");
    m_document.setNote(last, "slower with short prompts");
    const auto why = [&] {
        const QAbstractItemModel* model = view<QTreeView>("left")->model();
        QStringList all;
        for (int row = 0; row < model->rowCount(); ++row)
            if (model->index(row, LeftModel::state).data().toString() == "rejected")
                all += model->index(row, LeftModel::why).data().toString();
        return all;
    };
    EXPECT_TRUE(waitFor([&] { return why() == QStringList{"slower with short prompts"}; }))
        << why().join(", ").toStdString();
}

TEST_F(OpenOverview, APatternFiltersWhatIsLeft) {
    QListView* coverage = view<QListView>("coverage");
    for (int row = 0; row < coverage->model()->rowCount(); ++row)
        if (coverage->model()->index(row, 0).data(CoverageModel::pattern) == "gate-up")
            coverage->setCurrentIndex(coverage->model()->index(row, 0));
    EXPECT_FALSE(left().isEmpty());
    for (const QString& row : left())
        EXPECT_TRUE(row.startsWith("gate-up@")) << row.toStdString();
}

TEST_F(OpenOverview, ChoosesModulesAndFollowsTheSelection) {
    QTreeView* tree = view<QTreeView>("modules");
    tree->setCurrentIndex(moduleRow("0-2"));
    EXPECT_EQ(m_selection.module(), "layers.0");
    m_selection.selectModule("layers.3.mlp");
    EXPECT_EQ(shown(tree->currentIndex()), "mlp");
    EXPECT_EQ(shown(tree->currentIndex().parent()), "3  (differs)");
    m_selection.selectNode(0, "layers.1.mlp"); // one of the folded ones
    EXPECT_EQ(shown(tree->currentIndex().parent()), "0-2  ×3");
}

TEST_F(OpenOverview, EnterRevealsAModule) {
    QSignalSpy revealed(&m_selection, &Selection::revealRequested);
    QTreeView* tree = view<QTreeView>("modules");
    tree->setCurrentIndex(moduleRow("norm"));
    QTest::keyClick(tree, Qt::Key_Return);
    EXPECT_EQ(revealed.size(), 1);
    EXPECT_EQ(m_selection.module(), "norm");
}

TEST_F(OpenOverview, EveryViewHasAnAccessibleName) {
    for (const QAbstractItemView* item : m_panel->findChildren<QAbstractItemView*>())
        EXPECT_TRUE(!item->accessibleName().isEmpty() || item->objectName().isEmpty() ||
                    item->objectName().startsWith("qt_"))
            << item->objectName().toStdString();
}

TEST_F(OpenOverview, ItsModelsKeepTheRulesWhileDecisionsChange) {
    const QAbstractItemModelTester modules(view<QTreeView>("modules")->model(), kFail);
    const QAbstractItemModelTester coverage(view<QListView>("coverage")->model(), kFail);
    const QAbstractItemModelTester rows(view<QTreeView>("left")->model(), kFail);
    const QStringList before = left();
    view<QPushButton>("applyAll")->click();
    ASSERT_TRUE(waitFor([&] { return left() != before; }));
    m_document.undo();
    EXPECT_TRUE(waitFor([&] { return left() == before; }));
}

} // namespace
} // namespace workbench::gui::test
