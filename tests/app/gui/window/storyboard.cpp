#include "tests/app/gui/window/storyboard.h"

#include "app/gui/decisions/sites_model.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/app/gui/support/user.h"

#include <QtCore/QElapsedTimer>
#include <QtGui/QAction>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QTableView>
#include <QtWidgets/QToolButton>
#include <QtWidgets/QTreeView>

namespace workbench::gui::test {
namespace {

constexpr int kStopMs = 3000; // the worker is given two seconds to stop by itself, then it is killed

} // namespace

void Storyboard::SetUp() {
    QSettings().clear();
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    m_locations = Locations::find();
    m_locations.executables = WORKBENCH_EXECUTABLES;
    m_locations.cache = folder() / "cache";
    m_runs = std::filesystem::exists(m_locations.executables / "workbench-worker");
    m_window = std::make_unique<MainWindow>(m_locations, m_appearance);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
}

void Storyboard::TearDown() {
    m_window.reset();
}

QString Storyboard::text(const char* panel, const char* name) const {
    const auto* label = m_tab->workspace()->panel(panel)->findChild<QLabel*>(name);
    return label ? label->text() : QString();
}

void Storyboard::waitUntilReady(int seconds) {
    m_tab = m_window->currentTab();
    ASSERT_NE(m_tab, nullptr) << "no tab came";
    ASSERT_TRUE(waitFor([&] { return document().state() != Document::State::opening; }, seconds));
    ASSERT_EQ(document().state(), Document::State::ready)
        << (document().error() ? document().error()->message : "");
}

void Storyboard::waitForJob(int seconds) const {
    ASSERT_TRUE(waitFor([&] { return !document().busy(); }, seconds)) << document().jobTitle().toStdString();
}

QModelIndex Storyboard::rowOf(std::size_t site, int column) const {
    const auto* model = part<QTableView>("decisions", "sites")->model();
    const QString module = QString::fromStdString(document().analysis().sites[site].module);
    const QString pattern = QString::fromStdString(document().analysis().sites[site].pattern);
    for (int row = 0; row < model->rowCount(); ++row)
        if (model->index(row, SitesModel::kPattern).data().toString() == pattern &&
            model->index(row, SitesModel::kPlace).data().toString() == module)
            return model->index(row, column);
    return {};
}

void Storyboard::play(const QString& folder, int openSeconds, int verifySeconds) {
    const std::pair<const char*, std::function<void()>> steps[] = {
        {"open", [&] { openModel(folder, openSeconds); }},
        {"find", [&] { find(); }},
        {"inspect", [&] { chooseAndInspect(); }},
        {"reject, note, undo, redo", [&] { rejectWithNoteAndUndo(); }},
        {"apply all", [&] { applyAll(); }},
        {"verify", [&] { verify(verifySeconds); }},
        {"measure", [&] { measure(); }},
        {"save", [&] { savePlan(); }},
        {"quit and come back", [&] { quitAndComeBack(openSeconds); }},
    };
    for (const auto& [name, step] : steps) {
        SCOPED_TRACE(name);
        step();
        if (HasFatalFailure())
            return;
    }
}

void Storyboard::openModel(const QString& folder, int seconds) {
    answerFileDialog(folder);
    pressKey(Qt::Key_O, Qt::ControlModifier);
    waitUntilReady(seconds);
}

/// Typed and sent off at once; then the next one from the list of what was found.
void Storyboard::find() {
    part<QWidget>("canvas", "searchBar");
    pressKey(Qt::Key_F, Qt::ControlModifier);
    typeText("rsqrt");
    pressKey(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return m_tab->selection().node() != kNone; })) << "the first hit is chosen";
    const NodeId first = m_tab->selection().node();
    EXPECT_EQ(document().graph().node(first).op, "aten.rsqrt.default");
    auto* hits = part<QTreeView>("canvas", "searchHits");
    ASSERT_GT(hits->model()->rowCount(), 1);
    clickOn(hits, hits->model()->index(1, 0));
    EXPECT_NE(m_tab->selection().node(), first);
    EXPECT_EQ(text("canvas", "searchCount"), QString("2 of %1").arg(hits->model()->rowCount()));
    clickOn(part<QLineEdit>("canvas", "searchText"));
    pressKey(Qt::Key_Escape);
    EXPECT_FALSE(hits->isVisible());
}

void Storyboard::chooseAndInspect() {
    const auto& sites = document().analysis().sites;
    const auto found = std::find_if(sites.begin(), sites.end(), [](const Site& site) {
        return site.verdict == SiteVerdict::applicable && site.pattern == "rms-norm";
    });
    ASSERT_NE(found, sites.end());
    m_site = static_cast<std::size_t>(found - sites.begin());
    auto* table = part<QTableView>("decisions", "sites");
    clickOn(table, rowOf(m_site, SitesModel::kPlace));
    ASSERT_EQ(m_tab->selection().site(), m_site);
    m_tab->workspace()->showPanel("inspector");
    const auto title = [&] {
        const auto* head = m_tab->workspace()->panel("inspector")->findChild<QWidget*>("title");
        return head ? head->accessibleName() : QString();
    };
    EXPECT_TRUE(waitFor([&] { return title() == "rms-norm"; })) << title().toStdString();
}

void Storyboard::rejectWithNoteAndUndo() {
    auto* table = part<QTableView>("decisions", "sites");
    clickOn(table, rowOf(m_site, SitesModel::kPlace));
    pressKey(Qt::Key_Delete);
    EXPECT_EQ(document().decision(m_site), Decision::reject);
    typeText("looks risky"); // the note takes the keyboard
    pressKey(Qt::Key_Return);
    EXPECT_EQ(document().note(m_site), "looks risky");
    clickOn(table, rowOf(m_site, SitesModel::kPlace));
    pressKey(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(document().note(m_site), "");
    EXPECT_EQ(document().decision(m_site), Decision::reject);
    pressKey(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(document().decision(m_site), Decision::undecided);
    pressKeys(QKeySequence::Redo);
    EXPECT_EQ(document().decision(m_site), Decision::reject);
    pressKey(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(document().decision(m_site), Decision::undecided);
    settle(document());
}

void Storyboard::applyAll() {
    clickOn(part<QPushButton>("overview", "applyAll"));
    settle(document());
    EXPECT_EQ(document().outcome(m_site).state, SiteOutcome::State::applied);
}

/// Every applied site has its error in the table afterwards.
void Storyboard::verify(int seconds) {
    if (!m_runs)
        return;
    clickOn(part<QToolButton>("decisions", "verify"));
    ASSERT_TRUE(document().busy());
    waitForJob(seconds);
    ASSERT_NE(document().session().endToEnd(), nullptr) << text("decisions", "result").toStdString();
    EXPECT_TRUE(document().session().endToEnd()->passed);
    ASSERT_NE(document().proof(m_site), nullptr);
    EXPECT_TRUE(document().proof(m_site)->passed);
    EXPECT_FALSE(rowOf(m_site, SitesModel::kError).data().toString().isEmpty());
    EXPECT_TRUE(text("decisions", "result").contains("reproduce the original"))
        << text("decisions", "result").toStdString();
}

void Storyboard::measure() {
    if (!m_runs)
        return;
    enterNumber(part<QSpinBox>("measure", "promptTokens"), 16);
    enterNumber(part<QSpinBox>("measure", "newTokens"), 8);
    enterNumber(part<QSpinBox>("measure", "rounds"), 9999);
    clickOn(part<QPushButton>("measure", "start"));
    ASSERT_TRUE(document().busy());
    // The headline comes with the first round of the rewritten model.
    EXPECT_TRUE(waitFor([&] { return !text("measure", "headline").isEmpty() || !document().busy(); }, 300));
    QTest::qWait(2000); // some more rounds
    QElapsedTimer clock;
    clock.start();
    clickOn(part<QPushButton>("measure", "stop"));
    waitForJob(20);
    EXPECT_LT(clock.elapsed(), kStopMs);
    EXPECT_TRUE(text("measure", "measureNotice").startsWith("Stopped after"))
        << text("measure", "measureNotice").toStdString();
    EXPECT_TRUE(text("measure", "headline").startsWith("Decode:"))
        << text("measure", "headline").toStdString();
}

void Storyboard::savePlan() {
    EXPECT_TRUE(m_window->isWindowModified());
    m_tab->workspace()->showPanel("decisions");
    answerFileDialog(planFile());
    pressKey(Qt::Key_S, Qt::ControlModifier);
    ASSERT_TRUE(waitFor([&] { return !document().modified(); }));
    EXPECT_TRUE(QFile::exists(planFile()));
    EXPECT_FALSE(m_window->isWindowModified());
}

void Storyboard::quitAndComeBack(int seconds) {
    const Choices before = document().session().history().choices();
    m_window->resize(1400, 780);
    QTest::qWait(1);
    const QSize size = m_window->size();
    m_window->close();
    ASSERT_TRUE(waitFor([&] { return !m_window->isVisible(); }));
    m_window = std::make_unique<MainWindow>(m_locations, m_appearance);
    m_window->show();
    m_window->reopenLast();
    waitUntilReady(seconds);
    const Choices& after = document().session().history().choices();
    EXPECT_EQ(m_window->size(), size);
    EXPECT_EQ(document().planFile(), planFile());
    EXPECT_EQ(after.decisions, before.decisions);
    EXPECT_EQ(after.notes, before.notes);
    EXPECT_FALSE(after.decisions.empty());
    EXPECT_EQ(document().proof(m_site) != nullptr, m_runs);
    EXPECT_EQ(document().outcome(m_site).state, SiteOutcome::State::applied);
    EXPECT_FALSE(document().modified());
}

} // namespace workbench::gui::test
