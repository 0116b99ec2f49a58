#include "app/gui/window/plan_actions.h"
#include "app/gui/window/recent_models.h"
#include "app/session/plan_store.h"
#include "tests/app/gui/window/own_folder.h"
#include "tests/app/gui/window/tab_facts.h"

#include <QtCore/QMimeData>
#include <QtGui/QAction>
#include <QtGui/QClipboard>
#include <QtGui/QDropEvent>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMenu>
#include <QtWidgets/QMenuBar>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QPushButton>

#include <algorithm>

namespace workbench::gui::test {
namespace {

class Window : public OwnFolder {
protected:
    void SetUp() override {
        OwnFolder::SetUp();
        qputenv("FAKE_TRACER_LOG", QByteArray::fromStdString((folder() / "log").string()));
        m_appearance = std::make_unique<Appearance>();
        m_window = std::make_unique<MainWindow>(m_locations, *m_appearance);
        m_window->show();
    }
    void TearDown() override {
        m_window.reset();
        qunsetenv("FAKE_TRACER");
    }

    ModelTab* openSmall() { return openSmallIn(*m_window); }
    QAction* action(const char* name) const { return m_window->findChild<QAction*>(name); }
    void applyFirst(ModelTab* tab) const {
        tab->document().apply({applicable(tab->document()).front()}, Decision::apply, "apply the first");
        settle(tab->document());
    }
    template <class T>
    T* waitForChild(QWidget& parent, const char* name) const {
        T* child = nullptr;
        EXPECT_TRUE(waitFor([&] { return (child = parent.findChild<T*>(name)) && child->isVisible(); }))
            << name;
        return child;
    }
    bool saveTo(ModelTab* tab, const QString& file, Document::Overwrite overwrite) const {
        std::optional<bool> saved;
        tab->document().savePlan(file, overwrite, [&](const Status& status) { saved = status.ok(); });
        EXPECT_TRUE(waitFor([&] { return saved.has_value(); }));
        return saved.value_or(false);
    }
    QString planFile() const { return QString::fromStdString((folder() / "plan.json").string()); }

    std::unique_ptr<Appearance> m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

TEST_F(Window, BeginsWithAPageThatSaysHow) {
    EXPECT_EQ(m_window->currentTab(), nullptr);
    EXPECT_NE(m_window->findChild<QWidget*>("startPage"), nullptr);
    EXPECT_FALSE(action("save")->isEnabled());
}

TEST_F(Window, AModelThatIsNotThereSaysSoAndWhatToDo) {
    ModelTab* tab = m_window->openModel(missing());
    auto* message = waitForChild<QLabel>(*tab, "errorMessage");
    ASSERT_NE(message, nullptr);
    EXPECT_TRUE(message->text().contains("missing.pt2"));
    EXPECT_NE(tab->findChild<QPushButton*>("tryAgain"), nullptr);
    EXPECT_TRUE(recentModels().isEmpty()) << "what could not be opened is not offered again";
}

TEST_F(Window, ATracerThatDiesIsAPageOfItsOwnAndCanBeTriedAgain) {
    qputenv("FAKE_TRACER", "killed");
    std::filesystem::create_directory(folder() / "model");
    OpenRequest request;
    request.model = QString::fromStdString((folder() / "model").string());
    ModelTab* tab = m_window->openModel(request);
    auto* message = waitForChild<QLabel>(*tab, "errorMessage");
    EXPECT_TRUE(message->text().contains("the last words")) << message->text().toStdString();
    qputenv("FAKE_TRACER", "not-traced");
    tab->findChild<QPushButton*>("tryAgain")->click();
    EXPECT_TRUE(waitFor([&] { return message->text() == "It looks at data."; }));
}

TEST_F(Window, CancelStopsATracerThatHangs) {
    qputenv("FAKE_TRACER", "hangs");
    std::filesystem::create_directory(folder() / "model");
    OpenRequest request;
    request.model = QString::fromStdString((folder() / "model").string());
    ModelTab* tab = m_window->openModel(request);
    auto* cancel = waitForChild<QPushButton>(*tab, "cancelOpening");
    ASSERT_TRUE(waitFor([&] { return std::filesystem::exists(folder() / "log"); }));
    QTest::mouseClick(cancel, Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }, 10));
    EXPECT_EQ(tab->document().error()->code, ErrorCode::cancelled);
}

TEST_F(Window, UndoSaysWhatItTakesBack) {
    ModelTab* tab = openSmall();
    EXPECT_FALSE(action("undo")->isEnabled());
    applyFirst(tab);
    EXPECT_EQ(action("undo")->text(), "&Undo: apply the first");
    EXPECT_TRUE(m_window->isWindowModified());
    m_window->activateWindow(); // a shortcut is heard by the active window alone
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_FALSE(tab->document().modified());
    EXPECT_FALSE(m_window->isWindowModified());
}

TEST_F(Window, APlanIsSavedAndComesBack) {
    ModelTab* tab = openSmall();
    applyFirst(tab);
    ASSERT_TRUE(saveTo(tab, planFile(), Document::Overwrite::always));
    EXPECT_FALSE(tab->document().modified());
    tab->document().apply({applicable(tab->document()).front()}, Decision::reject, "reject");
    std::optional<bool> opened;
    tab->document().openPlan(planFile(), [&](const Status& status) { opened = status.ok(); });
    ASSERT_TRUE(waitFor([&] { return opened.has_value(); }));
    EXPECT_TRUE(*opened);
    EXPECT_EQ(tab->document().decision(applicable(tab->document()).front()), Decision::apply);
    EXPECT_FALSE(tab->document().modified());
}

TEST_F(Window, APlanThatSomebodyElseSavedIsAskedAbout) {
    ModelTab* tab = openSmall();
    applyFirst(tab);
    ASSERT_TRUE(saveTo(tab, planFile(), Document::Overwrite::always));
    auto theirs = loadPlan(planFile().toStdString());
    theirs->plan.versions["other"] = "1";
    ASSERT_TRUE(storePlan(theirs->plan, planFile().toStdString(), std::nullopt, m_locations.cache, {}));
    tab->document().setNote(0, "mine");
    action("save")->trigger();
    auto* question = waitForChild<QMessageBox>(*m_window, "askConflict");
    ASSERT_NE(question, nullptr);
    EXPECT_TRUE(loadPlan(planFile().toStdString())->plan.versions.contains("other"))
        << "nothing is written before";
    question->findChild<QPushButton*>("replaceTheirs")->click();
    ASSERT_TRUE(waitFor([&] { return !tab->document().modified(); }));
    EXPECT_EQ(loadPlan(planFile().toStdString())->plan.sites.front().note, "mine");
}

TEST_F(Window, APlanThatIsReplacedOnDiskIsNoticed) {
    ModelTab* tab = openSmall();
    ASSERT_TRUE(saveTo(tab, planFile(), Document::Overwrite::always));
    writeFile("plan.json", "{}");
    EXPECT_TRUE(waitFor([&] { return notices(tab).contains("plan.json"); }, 10));
}

TEST_F(Window, WhereNothingCanBeWrittenTheDecisionsStay) {
    ModelTab* tab = openSmall();
    applyFirst(tab);
    EXPECT_FALSE(saveTo(tab, "/proc/plan.json", Document::Overwrite::always));
    EXPECT_TRUE(tab->document().modified());
    EXPECT_EQ(tab->document().decision(applicable(tab->document()).front()), Decision::apply);
}

TEST_F(Window, ClosingWithUnsavedDecisionsAsksFirst) {
    ModelTab* tab = openSmall();
    applyFirst(tab);
    m_window->close();
    auto* question = waitForChild<QMessageBox>(*m_window, "askSave");
    ASSERT_NE(question, nullptr);
    EXPECT_TRUE(m_window->isVisible());
    question->button(QMessageBox::Discard)->click();
    EXPECT_TRUE(waitFor([&] { return !m_window->isVisible(); }));
    EXPECT_EQ(m_window->tabCount(), 0);
}

TEST_F(Window, OpenedAgainItsPanelsBringTheirActionsAnew) {
    ModelTab* tab = openSmall();
    const auto entries = [&] {
        QStringList texts;
        for (const QMenu* menu :
             m_window->menuBar()->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly))
            for (const QAction* entry : menu->actions())
                texts += entry->text();
        return texts;
    };
    const QStringList before = entries();
    const Workspace* first = tab->workspace();
    tab->document().openSession(smallSession(3));
    ASSERT_TRUE(waitFor([&] { return tab->workspace() && tab->workspace() != first; }));
    EXPECT_EQ(entries(), before);
}

TEST_F(Window, ATabMayGoAtAnyTime) {
    ModelTab* tab = openSmall();
    openSmall();
    delete tab;
    EXPECT_EQ(m_window->tabCount(), 1);
    delete m_window->tab(0);
    EXPECT_NE(m_window->findChild<QWidget*>("startPage"), nullptr);
}

TEST_F(Window, ADroppedFileIsOpened) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(missing().model)});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &drop);
    ASSERT_EQ(m_window->tabCount(), 1);
    EXPECT_EQ(m_window->tab(0)->document().request().model, missing().model);
}

TEST_F(Window, TheReportOfTheChosenSiteGoesToTheClipboard) {
    ModelTab* tab = openSmall();
    EXPECT_FALSE(action("copyReport")->isEnabled());
    tab->selection().selectSite(0, tab->document().analysis().sites[0].module);
    ASSERT_TRUE(action("copyReport")->isEnabled());
    action("copyReport")->trigger();
    const std::string id = tab->document().analysis().sites[0].id;
    EXPECT_TRUE(QApplication::clipboard()->text().startsWith("## `" + QString::fromStdString(id)));
}

TEST_F(Window, EveryPanelCanBeReachedByKeyboard) {
    ModelTab* tab = openSmall();
    for (const QString& id : tab->workspace()->ids()) {
        QAction* go = m_window->findChild<QAction*>("go_" + id);
        ASSERT_NE(go, nullptr) << id.toStdString();
        EXPECT_FALSE(go->shortcut().isEmpty());
        go->trigger();
        EXPECT_TRUE(tab->workspace()->panel(id)->isVisible()) << id.toStdString();
    }
}

TEST_F(Window, NoTwoActionsShareAShortcut) {
    openSmall();
    std::map<QString, QString> taken;
    for (const QAction* one : m_window->findChildren<QAction*>()) {
        if (one->shortcutContext() != Qt::WindowShortcut || one->text().isEmpty())
            continue;
        for (const QKeySequence& keys : one->shortcuts()) {
            const auto [other, isNew] = taken.emplace(keys.toString(), one->text());
            EXPECT_TRUE(isNew) << keys.toString().toStdString() << ": " << other->second.toStdString() << ", "
                               << one->text().toStdString();
        }
    }
}

TEST_F(Window, LightAndDarkAreChosenAndKept) {
    const auto lightness = [&] { return m_window->palette().color(QPalette::Window).lightness(); };
    m_appearance->choose(Appearance::Choice::dark);
    EXPECT_TRUE(waitFor([&] { return lightness() < 128; })) << lightness();
    EXPECT_TRUE(Appearance().isDark()) << "the next window starts as this one was";
    m_appearance->choose(Appearance::Choice::light);
    EXPECT_TRUE(waitFor([&] { return lightness() > 128; })) << lightness();
}

TEST_F(Window, AModelsOwnCodeRunsOnlyAfterConsent) {
    qputenv("FAKE_TRACER", "untrusted");
    std::filesystem::create_directory(folder() / "model");
    writeFile("model/config.json", R"({"auto_map": {"AutoModelForCausalLM": "modeling_x.X"}})");
    writeFile("model/modeling_x.py", "");
    OpenRequest request;
    request.model = QString::fromStdString((folder() / "model").string());
    ModelTab* tab = m_window->openModel(request);
    auto* question = waitForChild<QMessageBox>(*tab, "consent");
    ASSERT_NE(question, nullptr);
    EXPECT_TRUE(question->detailedText().contains("modeling_x.py"));
    EXPECT_EQ(question->defaultButton()->text(), "Do not run it");
    question->findChild<QPushButton*>("runCode")->click();
    EXPECT_TRUE(waitFor([&] { return tab->document().request().trace.trustRemoteCode; }));
}

} // namespace
} // namespace workbench::gui::test
