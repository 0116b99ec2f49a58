#include "core/graph/text.h"
#include "fusion/fusion.h"
#include "tests/app/gui/support/user.h"
#include "tests/app/gui/window/own_folder.h"
#include "tests/app/gui/window/tab_facts.h"
#include "tests/app/session/norm_model.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QMimeData>
#include <QtCore/QUrl>
#include <QtGui/QAction>
#include <QtGui/QDropEvent>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QStatusBar>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QTableView>
#include <QtWidgets/QToolButton>

#include <algorithm>

/// Files, models and hands that nobody expects: the window says what is the matter and stays as it was.

namespace workbench::gui::test {
namespace {

constexpr int kGoesOnUntilStopped = 14; ///< new tokens: see the fake worker

class OddInput : public OwnFolder {
protected:
    void SetUp() override {
        OwnFolder::SetUp();
        qputenv("FAKE_TRACER_LOG", QByteArray::fromStdString((folder() / "log").string()));
        m_window = std::make_unique<MainWindow>(m_locations, m_appearance);
        m_window->resize(1280, 800);
        m_window->show();
    }
    void TearDown() override {
        m_window.reset();
        qunsetenv("FAKE_TRACER");
    }

    ModelTab* openSession(Session session) {
        ModelTab* tab = m_window->openModel(missing());
        EXPECT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
        tab->document().openSession(std::move(session));
        EXPECT_TRUE(waitFor([&] { return tab->workspace() != nullptr; }));
        return tab;
    }
    ModelTab* openHanging() {
        qputenv("FAKE_TRACER", "hangs");
        std::filesystem::create_directory(folder() / "model");
        OpenRequest request;
        request.model = path("model");
        ModelTab* tab = m_window->openModel(request);
        EXPECT_TRUE(waitFor([&] { return std::filesystem::exists(folder() / "log"); }));
        return tab;
    }
    QString path(const char* name) const { return QString::fromStdString((folder() / name).string()); }
    void drop(const QStringList& paths) {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& one : paths)
            urls += QUrl::fromLocalFile(one);
        data.setUrls(urls);
        EXPECT_TRUE(accepts(data));
        QDropEvent event(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &event);
    }
    bool accepts(const QMimeData& data) {
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        return enter.isAccepted();
    }
    bool save(ModelTab* tab, const QString& file) const {
        std::optional<bool> saved;
        tab->document().savePlan(file, Document::Overwrite::always,
                                 [&](const Status& status) { saved = status.ok(); });
        EXPECT_TRUE(waitFor([&] { return saved.has_value(); }));
        return saved.value_or(false);
    }
    template <class T>
    static T* part(ModelTab* tab, const char* panel, const char* name) {
        tab->workspace()->showPanel(panel);
        T* found = tab->workspace()->panel(panel)->findChild<T*>(name);
        EXPECT_NE(found, nullptr) << panel << "/" << name;
        return found;
    }
    static QString figure(ModelTab* tab) {
        return part<QTableView>(tab, "measure", "figures")->model()->index(1, 1).data().toString();
    }
    /// Measures with the fake worker, that goes on until it is stopped.
    static void startEndlessMeasuring(ModelTab* tab) {
        part<QComboBox>(tab, "measure", "worker")->setCurrentText(WORKBENCH_FAKE_WORKER);
        part<QSpinBox>(tab, "measure", "newTokens")->setValue(kGoesOnUntilStopped);
        part<QPushButton>(tab, "measure", "start")->click();
    }

    Appearance m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

// What is dropped.

TEST_F(OddInput, SeveralModelsDroppedAtOnceGetATabEach) {
    drop({path("one.pt2"), path("two words.pt2"), path("one.pt2")});
    ASSERT_EQ(m_window->tabCount(), 2);
    EXPECT_EQ(m_window->tab(1)->document().request().model, path("two words.pt2"));
}

TEST_F(OddInput, AllFilesOfAModelsFolderAreThatModel) {
    std::filesystem::create_directory(folder() / "model");
    for (const char* name : {"model/config.json", "model/tokenizer.json", "model/model.safetensors"})
        writeFile(name, "{}");
    drop({path("model/tokenizer.json"), path("model/model.safetensors"), path("model/config.json")});
    ASSERT_EQ(m_window->tabCount(), 1);
    EXPECT_EQ(m_window->tab(0)->document().request().model, path("model"));
}

TEST_F(OddInput, APlanThatIsDroppedWhileTheModelIsOpenedIsTakenWhenThatIsThere) {
    ModelTab* first = openSmallIn(*m_window);
    first->document().apply(applicable(first->document()), Decision::apply, "all");
    settle(first->document());
    ASSERT_TRUE(save(first, path("plan.json")));
    ModelTab* tab = openHanging();
    drop({path("plan.json")});
    tab->document().openSession(smallSession(4));
    ASSERT_TRUE(waitFor([&] { return tab->document().planFile() == path("plan.json"); }))
        << notices(tab).toStdString();
    EXPECT_EQ(tab->document().session().decisions(), first->document().session().decisions());
}

TEST_F(OddInput, APlanWithoutAModelIsTold) {
    writeFile("plan.json", "{}");
    drop({path("plan.json")});
    EXPECT_EQ(m_window->tabCount(), 0);
    EXPECT_TRUE(m_window->statusBar()->currentMessage().contains("plan.json"))
        << m_window->statusBar()->currentMessage().toStdString();
}

TEST_F(OddInput, APlanForAModelThatCouldNotBeOpenedIsTold) {
    ModelTab* tab = m_window->openModel(missing());
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    writeFile("plan.json", "{}");
    drop({path("plan.json")});
    EXPECT_TRUE(notices(tab).contains("could not be opened")) << notices(tab).toStdString();
    std::optional<Status> opened;
    tab->document().openPlan(path("plan.json"), [&](Status status) { opened = std::move(status); });
    ASSERT_TRUE(opened.has_value());
    EXPECT_FALSE(opened->ok());
}

TEST_F(OddInput, WhatIsNoLocalFileIsNotAccepted) {
    QMimeData data;
    data.setText("hello");
    EXPECT_FALSE(accepts(data));
    data.setData("text/uri-list", "");
    EXPECT_FALSE(accepts(data));
    data.setUrls({QUrl("https://example.org/model.pt2")});
    EXPECT_FALSE(accepts(data));
}

// Plans.

TEST_F(OddInput, APlanOfAnotherModelIsRefusedAndChangesNothing) {
    ModelTab* other = openSmallIn(*m_window);
    ASSERT_TRUE(save(other, path("other.json")));
    ModelTab* tab = openSession(smallSession(3));
    tab->document().apply(applicable(tab->document()), Decision::apply, "all");
    settle(tab->document());
    const Decisions decided = tab->document().session().decisions();
    drop({path("other.json")});
    ASSERT_TRUE(waitFor([&] { return notices(tab).contains("other.json"); }));
    EXPECT_EQ(tab->document().session().decisions(), decided);
    EXPECT_TRUE(tab->document().planFile().isEmpty());
}

TEST_F(OddInput, PlansThatAreDamagedAreASentenceEach) {
    ModelTab* tab = openSmallIn(*m_window);
    for (const char* content :
         {"", "{", "[]", "null", "{\"schema\": 99}", "\xff\xfe\x00", "{\"schema\": \"one\"}"}) {
        writeFile("plan.json", content);
        std::optional<Status> opened;
        tab->document().openPlan(path("plan.json"), [&](Status status) { opened = std::move(status); });
        ASSERT_TRUE(waitFor([&] { return opened.has_value(); }));
        ASSERT_FALSE(opened->ok()) << content;
        EXPECT_NE(opened->error().message.find("plan.json"), std::string::npos) << opened->error().message;
    }
    EXPECT_FALSE(tab->document().modified());
}

TEST_F(OddInput, NamesMayHaveSpacesQuotesMarkupAndAnyLetters) {
    const QString name = QString::fromUtf8("it's a \"plan\" & <b>mehr<b> für 日本 %1.json");
    ModelTab* tab = openSmallIn(*m_window);
    tab->document().apply(applicable(tab->document()), Decision::apply, "all");
    settle(tab->document());
    ASSERT_TRUE(save(tab, QString::fromStdString(folder().string()) + "/" + name));
    EXPECT_TRUE(m_window->windowTitle().contains(name)) << m_window->windowTitle().toStdString();
    const Decisions decided = tab->document().session().decisions();
    ModelTab* again = openSession(smallSession(4));
    drop({QString::fromStdString(folder().string()) + "/" + name});
    ASSERT_TRUE(waitFor([&] { return again->document().planFile().endsWith(name); }));
    EXPECT_EQ(again->document().session().decisions(), decided);
}

/// A name's "&" is no shortcut of a tab or a button.
TEST_F(OddInput, NoButtonReadsANameAsAShortcut) {
    OpenRequest request;
    request.model = path("this & that.pt2");
    ModelTab* tab = m_window->openModel(request);
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    TracedModel model = *smallModel(2);
    model.archive = request.model.toStdString();
    tab->document().openSession(Session::of(std::make_shared<const TracedModel>(model), {}, m_locations));
    ASSERT_TRUE(waitFor([&] { return tab->workspace() && !tab->document().working(); }));
    EXPECT_EQ(m_window->findChild<QTabWidget*>("models")->tabText(0), "this && that.pt2");
    for (const QAbstractButton* button : m_window->findChildren<QAbstractButton*>()) {
        EXPECT_FALSE(button->text().contains("this & that")) << button->text().toStdString();
    }
    for (const QAction* action : m_window->findChildren<QAction*>()) {
        EXPECT_FALSE(action->text().contains("this & that")) << action->text().toStdString();
    }
}

/// A name is never read as markup.
TEST_F(OddInput, NoLabelReadsANameAsMarkup) {
    OpenRequest request;
    request.model = path("a <b>bold</b> <img src=x> name.pt2");
    ModelTab* tab = m_window->openModel(request);
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    TracedModel model = *smallModel(2);
    model.archive = request.model.toStdString();
    tab->document().openSession(Session::of(std::make_shared<const TracedModel>(model), {}, m_locations));
    ASSERT_TRUE(waitFor([&] { return tab->workspace() != nullptr; }));
    part<QComboBox>(tab, "measure", "worker")->setCurrentText("/nowhere/<b>worker</b>");
    part<QPushButton>(tab, "measure", "start")->click();
    ASSERT_TRUE(waitFor([&] { return !tab->document().busy(); }));
    tab->workspace()->showPanel("decisions");
    for (const QLabel* label : m_window->findChildren<QLabel*>()) {
        const bool isMarkup = label->textFormat() == Qt::RichText ||
                              (label->textFormat() == Qt::AutoText && Qt::mightBeRichText(label->text()));
        EXPECT_FALSE(isMarkup && label->text().contains("<b>bold</b>"))
            << label->objectName().toStdString() << ": " << label->text().toStdString();
        EXPECT_FALSE(isMarkup && label->text().contains("<b>worker</b>"))
            << label->objectName().toStdString() << ": " << label->text().toStdString();
    }
}

// Measurements.

TEST_F(OddInput, MeasurementsThatAreDamagedOrOfAnotherVersionLeaveWhatIsShown) {
    ModelTab* tab = openSession(workbench::test::fusedNormSession({"a", "b"}));
    part<QComboBox>(tab, "measure", "worker")->setCurrentText(WORKBENCH_FAKE_WORKER);
    part<QSpinBox>(tab, "measure", "newTokens")->setValue(4);
    part<QSpinBox>(tab, "measure", "rounds")->setValue(3);
    part<QPushButton>(tab, "measure", "start")->click();
    ASSERT_TRUE(waitFor([&] { return !tab->document().busy(); }));
    const QString shown = figure(tab);
    ASSERT_FALSE(shown.isEmpty());
    const auto* notice = part<QLabel>(tab, "measure", "measureNotice");
    const std::pair<const char*, const char*> files[] = {
        {"cut.json", R"({"schema": 1, "machine": {}, "load": {"prompt_tok)"},
        {"later.json", R"({"schema": 2, "machine": {}, "load": {}, "novelty": true})"},
        {"lacks.json", R"({"schema": 1, "machine": {}, "load": {}})"},
        {"other.json", R"({"schema": 1, "machine": 3, "load": []})"}};
    for (const auto& [name, content] : files) {
        writeFile(name, content);
        drop({path(name)});
        ASSERT_TRUE(waitFor([&] { return notice->text().contains(name); })) << notice->text().toStdString();
        EXPECT_EQ(figure(tab), shown) << name;
    }
}

// Models.

Session sessionOf(const std::string& text) {
    TracedModel model = *smallModel(1);
    auto graph = parseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    auto canonical = canonicalize(*graph);
    EXPECT_TRUE(canonical.ok()) << canonical.error().message;
    model.canonical = std::move(canonical).value();
    model.analysis = analyze(model.canonical);
    model.fingerprint = fingerprint(model.canonical, "{}");
    return Session::of(std::make_shared<const TracedModel>(model), {}, Locations::find());
}

/// Every panel in front, decided on by keyboard where that is possible, and saved.
void walkThrough(MainWindow& window, ModelTab* tab, const QString& plan) {
    for (const QString& id : tab->workspace()->ids()) {
        tab->workspace()->showPanel(id);
        ASSERT_TRUE(waitFor([&] { return !tab->document().working(); })) << id.toStdString();
        for (const Qt::Key key : {Qt::Key_Home, Qt::Key_Down, Qt::Key_Right, Qt::Key_Space, Qt::Key_Return,
                                  Qt::Key_End, Qt::Key_PageDown, Qt::Key_Left})
            if (QWidget* focus = window.focusWidget())
                QTest::keyClick(focus, key);
        window.grab();
    }
    for (const char* action : {"undo", "redo", "undo"})
        window.findChild<QAction*>(action)->trigger();
    std::optional<Status> saved;
    tab->document().savePlan(plan, Document::Overwrite::always,
                             [&](Status status) { saved = std::move(status); });
    ASSERT_TRUE(waitFor([&] { return saved.has_value(); }));
    EXPECT_TRUE(saved->ok()) << saved->error().message;
}

TEST_F(OddInput, AModelOfOneLayerIsAModel) {
    ModelTab* tab = openSession(smallSession(1));
    walkThrough(*m_window, tab, path("plan.json"));
}

TEST_F(OddInput, AGraphWithoutAnySiteIsShownAndSaved) {
    ModelTab* tab =
        openSession(sessionOf("module \"\" Bare\ninput %x: f32[1, s0, 64]\n"
                              "%y: f32[1, s0, 64] = aten.tanh.default(self=%x) @\"\"\noutput %y\n"));
    ASSERT_TRUE(tab->document().analysis().sites.empty());
    const auto* empty = part<QLabel>(tab, "decisions", "empty");
    EXPECT_TRUE(empty->isVisible());
    EXPECT_FALSE(empty->text().isEmpty());
    walkThrough(*m_window, tab, path("plan.json"));
}

TEST_F(OddInput, AGraphThatDoesNothingIsShownAndSaved) {
    ModelTab* tab = openSession(sessionOf("module \"\" Idle\ninput %x: f32[1, s0, 64]\noutput %x\n"));
    walkThrough(*m_window, tab, path("plan.json"));
}

TEST_F(OddInput, WhatIsTakenBackAfterOpeningAgainIsWhatWasDecided) {
    ModelTab* tab = openSmallIn(*m_window);
    Document& document = tab->document();
    const std::vector<std::size_t> sites = applicable(document);
    document.apply({sites.front()}, Decision::apply, "one");
    document.apply(sites, Decision::apply, "all");
    settle(document);
    const Workspace* before = tab->workspace();
    document.openSession(smallSession(4));
    ASSERT_TRUE(waitFor([&] { return tab->workspace() && tab->workspace() != before; }));
    auto* undo = m_window->findChild<QAction*>("undo");
    EXPECT_EQ(undo->isEnabled(), document.canUndo());
    for (int i = 0; i < 5; ++i)
        document.undo();
    for (int i = 0; i < 5; ++i)
        document.redo();
    settle(document);
    EXPECT_EQ(undo->isEnabled(), document.canUndo());
}

// Quick hands, and closing in the middle of it.

TEST_F(OddInput, StartAndStopMayBeClickedAsQuicklyAsOneCan) {
    ModelTab* tab = openSession(workbench::test::fusedNormSession({"a", "b"}));
    startEndlessMeasuring(tab);
    auto* start = part<QPushButton>(tab, "measure", "start");
    auto* stop = part<QPushButton>(tab, "measure", "stop");
    for (int i = 0; i < 30; ++i) {
        stop->click();
        stop->click();
        start->click();
        start->click();
        if (i % 3 == 0)
            QTest::qWait(7);
    }
    stop->click();
    ASSERT_TRUE(waitFor([&] {
        stop->click(); // the last start may have been heard after it
        return !tab->document().busy();
    }));
    EXPECT_TRUE(start->isEnabled());
    EXPECT_FALSE(stop->isEnabled());
    part<QSpinBox>(tab, "measure", "newTokens")->setValue(4);
    part<QSpinBox>(tab, "measure", "rounds")->setValue(3);
    start->click();
    ASSERT_TRUE(waitFor([&] { return !tab->document().busy(); }));
    EXPECT_EQ(figure(tab), "125.0 (125.0 to 125.0)")
        << part<QLabel>(tab, "measure", "measureNotice")->text().toStdString();
}

TEST_F(OddInput, ClosingInTheMiddleOfTheWorkEndsItAtOnce) {
    constexpr int kMostMs = 3000; // helpers are killed, not waited for; a busy machine needs its time
    const auto closes = [&](const char* what) {
        QElapsedTimer clock;
        clock.start();
        m_window->close();
        if (auto* question = m_window->findChild<QMessageBox*>("askSave"))
            question->button(QMessageBox::Discard)->click();
        EXPECT_TRUE(waitFor([&] { return !m_window->isVisible(); })) << what;
        m_window.reset();
        EXPECT_LT(clock.elapsed(), kMostMs) << what;
        m_window = std::make_unique<MainWindow>(m_locations, m_appearance);
        m_window->show();
    };
    openHanging();
    closes("while it traces");
    qunsetenv("FAKE_TRACER");
    ModelTab* tab = openSession(workbench::test::fusedNormSession({"a", "b"}));
    startEndlessMeasuring(tab);
    ASSERT_TRUE(tab->document().busy());
    QTest::qWait(100);
    closes("while it measures");
    tab = openSession(workbench::test::fusedNormSession({"a", "b"}));
    tab->document().setWorker("sleep 1000");
    m_window->activateWindow();
    part<QToolButton>(tab, "decisions", "verify")->click();
    ASSERT_TRUE(tab->document().busy());
    closes("while it verifies");
}

TEST_F(OddInput, ATabThatIsClosedWhileItMeasuresLeavesTheOthersAlone) {
    ModelTab* other = openSmallIn(*m_window);
    ModelTab* tab = openSession(workbench::test::fusedNormSession({"a", "b"}));
    startEndlessMeasuring(tab);
    ASSERT_TRUE(tab->document().busy());
    QPointer<ModelTab> gone = tab;
    Q_EMIT m_window->findChild<QTabWidget*>("models")->tabCloseRequested(1);
    if (auto* question = m_window->findChild<QMessageBox*>("askSave"))
        question->button(QMessageBox::Discard)->click();
    ASSERT_TRUE(waitFor([&] { return m_window->tabCount() == 1; }));
    EXPECT_TRUE(waitFor([&] { return gone.isNull(); })) << "its helpers have ended";
    EXPECT_EQ(m_window->currentTab(), other);
    EXPECT_EQ(other->document().state(), Document::State::ready);
}

} // namespace
} // namespace workbench::gui::test
