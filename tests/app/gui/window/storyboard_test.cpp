#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/support/temporary_folder.h"

#include <QtGui/QAction>
#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableView>

namespace workbench::gui::test {
namespace {

/// The whole work on a real small model, by mouse and keyboard: open, find, inspect, reject one site, undo, apply,
/// verify, measure, save, and open again as it was.
class Storyboard : public TemporaryFolder {
protected:
    void SetUp() override {
        const QByteArray model = qgetenv("WORKBENCH_TEST_MODEL");
        if (model.isEmpty())
            GTEST_SKIP() << "WORKBENCH_TEST_MODEL names no model";
        Locations locations = Locations::find();
        locations.executables = WORKBENCH_EXECUTABLES; // the worker is there
        m_runs = std::filesystem::exists(locations.executables / "workbench-worker");
        m_window = std::make_unique<MainWindow>(locations, m_appearance);
        m_window->resize(1280, 800);
        m_window->show();
        m_request.model = QString::fromLocal8Bit(model);
        m_tab = openTab(m_request);
    }
    void TearDown() override {
        while (m_window && m_window->tabCount() > 0)
            delete m_window->tab(0);
    }

    ModelTab* openTab(const OpenRequest& request) {
        ModelTab* tab = m_window->openModel(request);
        EXPECT_TRUE(waitFor([&] { return tab->document().state() != Document::State::opening; }, 600));
        EXPECT_EQ(tab->document().state(), Document::State::ready)
            << (tab->document().error() ? tab->document().error()->message : "");
        return tab;
    }
    Document& document() const { return m_tab->document(); }
    template <class T>
    T* part(const char* panel, const char* name) const {
        m_tab->workspace()->showPanel(panel);
        T* found = m_tab->workspace()->panel(panel)->findChild<T*>(name);
        EXPECT_NE(found, nullptr) << panel << "/" << name;
        return found;
    }
    void waitForJob(int seconds) const {
        ASSERT_TRUE(waitFor([&] { return !document().busy(); }, seconds));
    }

    Appearance m_appearance;
    std::unique_ptr<MainWindow> m_window;
    OpenRequest m_request;
    ModelTab* m_tab = nullptr;
    bool m_runs = false;
};

TEST_F(Storyboard, OpenFindInspectDecideVerifyMeasureSaveAndOpenAgain) {
    ASSERT_EQ(document().state(), Document::State::ready);
    // Find.
    part<QWidget>("canvas", "searchBar");
    QTest::keyClick(m_tab->workspace()->panel("canvas"), Qt::Key_F, Qt::ControlModifier);
    auto* search = part<QLineEdit>("canvas", "searchText");
    QTest::keyClicks(search, "rsqrt");
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_TRUE(waitFor([&] { return m_tab->selection().node() != kNone; })) << "the first hit is chosen";

    // Choose and inspect a site, and reject it.
    auto* table = part<QTableView>("decisions", "sites");
    table->selectRow(0);
    ASSERT_TRUE(waitFor([&] { return m_tab->selection().site().has_value(); }));
    const std::size_t site = *m_tab->selection().site();
    ASSERT_EQ(document().analysis().sites[site].verdict, SiteVerdict::applicable);
    EXPECT_TRUE(waitFor([&] {
        auto* title = m_tab->workspace()->panel("inspector")->findChild<QLabel*>("title");
        return title && !title->text().isEmpty();
    }));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Delete);
    EXPECT_EQ(document().decision(site), Decision::reject);
    m_window->findChild<QAction*>("undo")->trigger();
    EXPECT_EQ(document().decision(site), Decision::undecided);

    // Apply everything.
    QTest::mouseClick(part<QPushButton>("overview", "applyAll"), Qt::LeftButton);
    settle(document());
    EXPECT_EQ(document().outcome(site).state, SiteOutcome::State::applied);

    if (m_runs) {
        QTest::mouseClick(part<QPushButton>("decisions", "verify"), Qt::LeftButton);
        ASSERT_TRUE(document().busy());
        waitForJob(1200);
        ASSERT_NE(document().session().endToEnd(), nullptr);
        EXPECT_TRUE(document().session().endToEnd()->passed);
        ASSERT_NE(document().proof(site), nullptr);
        EXPECT_TRUE(document().proof(site)->passed);

        QTest::mouseClick(part<QPushButton>("measure", "start"), Qt::LeftButton);
        ASSERT_TRUE(document().busy());
        QTest::qWait(3000);
        QTest::mouseClick(part<QPushButton>("measure", "stop"), Qt::LeftButton);
        waitForJob(10);
    }

    // Save, and open again in a tab of its own.
    const QString file = QString::fromStdString((folder() / "plan.json").string());
    bool saved = false;
    document().savePlan(file, Document::Overwrite::always, [&](const Status& status) { saved = status.ok(); });
    ASSERT_TRUE(waitFor([&] { return saved; }));
    EXPECT_FALSE(document().modified());
    OpenRequest again = m_request;
    again.plan = file;
    const ModelTab* first = m_tab;
    ModelTab* second = openTab(again);
    ASSERT_NE(second, first);
    EXPECT_EQ(second->document().session().decisions(), document().session().decisions());
    EXPECT_EQ(second->document().proof(site) != nullptr, m_runs);
    EXPECT_FALSE(second->document().modified());
}

} // namespace
} // namespace workbench::gui::test
