#include "app/gui/decisions/decisions_panel.h"
#include "tests/app/gui/support/small_model.h"

#include <QtCore/QMimeData>
#include <QtGui/QAction>
#include <QtGui/QClipboard>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

class Deciding : public testing::Test {
protected:
    void SetUp() override {
        openSmallModel(m_document);
        m_panel = std::make_unique<DecisionsPanel>(m_document, m_selection, nullptr);
        m_panel->resize(1100, 500);
        m_panel->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_panel.get()));
        m_table = m_panel->findChild<QTableView*>("sites");
        QApplication::setActiveWindow(m_panel.get());
        m_table->setFocus();
    }
    template <class Object>
    Object* child(const char* name) const {
        auto* found = m_panel->findChild<Object*>(name);
        EXPECT_NE(found, nullptr) << name;
        return found;
    }
    std::size_t site(const std::string& id) const {
        const auto& sites = m_document.analysis().sites;
        for (std::size_t i = 0; i < sites.size(); ++i)
            if (sites[i].id == id)
                return i;
        ADD_FAILURE() << "no site " << id;
        return 0;
    }
    QModelIndex cell(const std::string& id, int column) const {
        const QAbstractItemModel* model = m_table->model();
        for (int row = 0; row < model->rowCount(); ++row) {
            const QString shown = model->index(row, SitesModel::kPattern).data().toString() + "@" +
                                  model->index(row, SitesModel::kPlace).data().toString();
            if (shown.toStdString() == id)
                return model->index(row, column);
        }
        return {};
    }
    void click(const QModelIndex& index, Qt::KeyboardModifiers modifiers = {}) {
        ASSERT_TRUE(index.isValid());
        m_table->scrollTo(index);
        QTest::mouseClick(m_table->viewport(), Qt::LeftButton, modifiers,
                          m_table->visualRect(index).center());
    }
    int applied() const {
        int count = 0;
        for (std::size_t i = 0; i < m_document.analysis().sites.size(); ++i)
            count += m_document.decision(i) == Decision::apply;
        return count;
    }

    Document m_document{Locations::find()};
    Selection m_selection;
    std::unique_ptr<DecisionsPanel> m_panel;
    QTableView* m_table = nullptr;
};

TEST_F(Deciding, AClickOnACheckboxAppliesOneSite) {
    const QModelIndex index = cell("qkv@layers.0.self_attn", SitesModel::kPattern);
    m_table->scrollTo(index);
    const QRect rect = m_table->visualRect(index);
    QTest::mouseClick(m_table->viewport(), Qt::LeftButton, {}, QPoint(rect.left() + 12, rect.center().y()));
    EXPECT_EQ(m_document.decision(site("qkv@layers.0.self_attn")), Decision::apply);
    EXPECT_EQ(applied(), 1);
}

TEST_F(Deciding, SpaceChecksTheCurrentRow) {
    click(cell("qkv@layers.1.self_attn", SitesModel::kPattern));
    m_table->setCurrentIndex(cell("qkv@layers.1.self_attn", SitesModel::kPattern));
    QTest::keyClick(m_table, Qt::Key_Space);
    EXPECT_EQ(m_document.decision(site("qkv@layers.1.self_attn")), Decision::apply);
}

TEST_F(Deciding, ThePatternsBoxAppliesAndTakesBackAllOfIt) {
    auto* box = child<QCheckBox>("pattern_qkv");
    EXPECT_EQ(box->text(), "qkv 0/4");
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    EXPECT_EQ(applied(), 4);
    EXPECT_EQ(box->checkState(), Qt::Checked);
    EXPECT_EQ(box->text(), "qkv 4/4");
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    EXPECT_EQ(applied(), 0);
    m_document.undo();
    EXPECT_EQ(applied(), 4);
    m_document.apply({site("qkv@layers.0.self_attn")}, Decision::reject, "reject");
    EXPECT_EQ(box->checkState(), Qt::PartiallyChecked);
}

TEST_F(Deciding, TheBoxesActOnTheLayersThatAreWritten) {
    QTest::keyClicks(child<QLineEdit>("layers"), "1-2");
    auto* box = child<QCheckBox>("pattern_qkv");
    EXPECT_EQ(box->text(), "qkv 0/2");
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    EXPECT_EQ(m_document.decision(site("qkv@layers.0.self_attn")), Decision::undecided);
    EXPECT_EQ(m_document.decision(site("qkv@layers.1.self_attn")), Decision::apply);
    EXPECT_EQ(m_document.decision(site("qkv@layers.2.self_attn")), Decision::apply);
    EXPECT_EQ(m_document.undoText(), "apply qkv in layers 1-2");
}

TEST_F(Deciding, LayersThatMakeNoSenseChangeNothingAndSayWhy) {
    auto* layers = child<QLineEdit>("layers");
    const int shown = m_table->model()->rowCount();
    QTest::keyClicks(layers, "2-");
    EXPECT_TRUE(layers->toolTip().contains("no layer")) << layers->toolTip().toStdString();
    EXPECT_LE(m_table->model()->rowCount(), shown);
    QTest::keyClicks(layers, "3");
    EXPECT_FALSE(layers->toolTip().contains("no layer"));
}

TEST_F(Deciding, TheBoxOfAllAppliesEverythingThatCanBe) {
    auto* box = child<QCheckBox>("pattern_all");
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    int applicable = 0;
    for (const Site& one : m_document.analysis().sites)
        applicable += one.verdict == SiteVerdict::applicable;
    EXPECT_EQ(applied(), applicable);
    settle(m_document);
    EXPECT_TRUE(child<QToolButton>("verdict_0")->isVisible());
}

TEST_F(Deciding, DeleteRejectsTheSelectionAndAsksForANote) {
    click(cell("qkv@layers.0.self_attn", SitesModel::kPlace));
    QTest::keyClick(m_table, Qt::Key_Delete);
    const std::size_t qkv = site("qkv@layers.0.self_attn");
    EXPECT_EQ(m_document.decision(qkv), Decision::reject);
    auto* note = child<QLineEdit>("note");
    EXPECT_EQ(m_panel->focusWidget(), note);
    QTest::keyClicks(note, "slower on one core");
    QTest::keyClick(note, Qt::Key_Return);
    EXPECT_EQ(m_document.note(qkv), "slower on one core");
    settle(m_document);
    EXPECT_EQ(cell("qkv@layers.0.self_attn", SitesModel::kReason).data().toString(), "slower on one core");
    EXPECT_EQ(cell("qkv@layers.0.self_attn", SitesModel::kState).data().toString(), "rejected");
}

TEST_F(Deciding, ManySelectedRowsAreOneStep) {
    click(cell("qkv@layers.0.self_attn", SitesModel::kPlace));
    click(cell("qkv@layers.2.self_attn", SitesModel::kPlace), Qt::ControlModifier);
    QTest::keyClick(m_table, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_EQ(applied(), 2);
    m_document.undo();
    EXPECT_EQ(applied(), 0);
}

TEST_F(Deciding, TheTableAndTheWindowChooseTheSameSite) {
    click(cell("qkv@layers.2.self_attn", SitesModel::kPlace));
    EXPECT_EQ(m_selection.site(), site("qkv@layers.2.self_attn"));
    EXPECT_EQ(m_selection.module(), "layers.2.self_attn");
    m_selection.selectSite(site("rope@layers.1.self_attn"), "layers.1.self_attn");
    ASSERT_EQ(m_table->selectionModel()->selectedRows().size(), 1);
    EXPECT_EQ(m_table->selectionModel()->selectedRows().front().row(),
              cell("rope@layers.1.self_attn", 0).row());
    m_selection.selectModule("layers.1");
    EXPECT_TRUE(m_table->selectionModel()->selectedRows().isEmpty());
}

TEST_F(Deciding, TheReasonOfAContainedSiteLeadsToTheOther) {
    m_document.apply({site("add-rms-norm@layers.0.post_attention_layernorm")}, Decision::apply, "apply");
    settle(m_document);
    click(cell("rms-norm@layers.0.post_attention_layernorm", SitesModel::kReason));
    EXPECT_EQ(m_selection.site(), site("add-rms-norm@layers.0.post_attention_layernorm"));
}

TEST_F(Deciding, ADoubleClickShowsThePlace) {
    QSignalSpy revealed(&m_selection, &Selection::revealRequested);
    const QModelIndex index = cell("qkv@layers.0.self_attn", SitesModel::kPlace);
    click(index);
    QTest::mouseDClick(m_table->viewport(), Qt::LeftButton, {}, m_table->visualRect(index).center());
    EXPECT_EQ(revealed.count(), 1);
}

TEST_F(Deciding, VerdictChipsShowOnlyWhatTheyName) {
    const int all = m_table->model()->rowCount();
    auto* refused = child<QToolButton>("verdict_6");
    QTest::mouseClick(refused, Qt::LeftButton);
    EXPECT_LT(m_table->model()->rowCount(), all);
    EXPECT_TRUE(cell("gate-up@layers.3.mlp", 0).isValid());
    QTest::mouseClick(refused, Qt::LeftButton);
    EXPECT_EQ(m_table->model()->rowCount(), all);
}

TEST_F(Deciding, AFilterThatMatchesNothingSaysSo) {
    QTest::keyClicks(child<QLineEdit>("filter"), "zzz");
    EXPECT_TRUE(child<QLabel>("empty")->isVisible());
    EXPECT_FALSE(m_table->isVisible());
    child<QLineEdit>("filter")->clear();
    EXPECT_TRUE(m_table->isVisible());
}

TEST_F(Deciding, CopiesTheReportAsMarkdown) {
    click(cell("qkv@layers.0.self_attn", SitesModel::kPlace));
    QApplication::clipboard()->clear();
    child<QAction>("copyReports")->trigger();
    ASSERT_TRUE(waitFor([] { return !QApplication::clipboard()->text().isEmpty(); }));
    const QString text = QApplication::clipboard()->text();
    EXPECT_TRUE(text.startsWith("## `qkv@layers.0.self_attn`\n")) << text.toStdString();
    EXPECT_TRUE(text.contains("| holds | all projections read"));
}

TEST_F(Deciding, VerifyingNothingSaysWhatToDo) {
    QTest::mouseClick(child<QToolButton>("verify"), Qt::LeftButton, {}, QPoint(10, 10));
    EXPECT_TRUE(child<QLabel>("result")->text().contains("Nothing is applied"));
    EXPECT_FALSE(m_document.busy());
}

TEST_F(Deciding, AVerificationThatCannotRunTellsTheReason) {
    // The small model has no tokens and no weights.
    m_document.apply({site("qkv@layers.0.self_attn")}, Decision::apply, "apply");
    settle(m_document);
    QTest::mouseClick(child<QToolButton>("verify"), Qt::LeftButton, {}, QPoint(10, 10));
    EXPECT_TRUE(m_document.busy());
    ASSERT_TRUE(waitFor([&] { return !m_document.busy(); }));
    EXPECT_TRUE(child<QLabel>("result")->text().contains("cannot") ||
                child<QLabel>("result")->text().contains("not verified"))
        << child<QLabel>("result")->text().toStdString();
    EXPECT_EQ(child<QToolButton>("verify")->text().remove('&'), "Verify");
}

TEST_F(Deciding, TheTrafficIsEstimatedForTheChosenTokens) {
    const auto saved = [&] { return cell("qkv@layers.0.self_attn", SitesModel::kBytes).data().toString(); };
    ASSERT_TRUE(waitFor([&] { return !saved().isEmpty(); }));
    const QString one = saved();
    child<QComboBox>("tokens")->setCurrentIndex(2);
    EXPECT_TRUE(waitFor([&] { return saved() != one; }));
}

TEST_F(Deciding, KeepsItsFiltersForTheNextTime) {
    QTest::keyClicks(child<QLineEdit>("filter"), "qkv");
    QTest::keyClicks(child<QLineEdit>("layers"), "1");
    QSettings settings("fusion-workbench-test", "decisions");
    m_panel->saveState(settings);
    DecisionsPanel again(m_document, m_selection, nullptr);
    again.restoreState(settings);
    EXPECT_EQ(again.findChild<QTableView*>("sites")->model()->rowCount(), 1);
    settings.clear();
}

TEST_F(Deciding, EveryControlHasANameForScreenReaders) {
    for (const QWidget* widget : m_panel->findChildren<QWidget*>()) {
        const bool control = widget->focusPolicy() & Qt::TabFocus;
        const bool own =
            control && !widget->objectName().isEmpty() && !widget->objectName().startsWith("qt_");
        if (!own)
            continue;
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        EXPECT_TRUE(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()))
            << widget->objectName().toStdString();
    }
}

} // namespace
} // namespace workbench::gui::test
