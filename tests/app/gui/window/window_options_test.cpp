#include "app/gui/window/window_options.h"
#include "tests/app/gui/window/own_folder.h"

#include <QtCore/QCommandLineParser>

namespace workbench::gui::test {
namespace {

Result<WindowRequest> requestOf(const QStringList& words) {
    QCommandLineParser parser;
    addWindowOptions(parser);
    EXPECT_TRUE(parser.parse(QStringList{"workbench-window"} + words)) << parser.errorText().toStdString();
    return windowRequest(parser);
}

TEST(WindowOptions, EachModelIsOpenedAsTheOptionsSay) {
    const auto request = requestOf({"--dtype", "bf16", "--time-limit", "30", "--worker", "ssh a b",
                                    "--worker-model", "/there", "--plan", "plan.json", "model"});
    ASSERT_TRUE(request.ok()) << request.error().message;
    ASSERT_EQ(request->open.size(), 1U);
    EXPECT_EQ(request->open[0].model, "model");
    EXPECT_EQ(request->open[0].plan, "plan.json");
    EXPECT_EQ(request->open[0].trace.dtype, TraceDtype::bf16);
    EXPECT_EQ(request->open[0].trace.timeLimit, std::chrono::seconds(30));
    EXPECT_EQ(request->worker, "ssh a b");
    EXPECT_EQ(request->workerModel, "/there");
}

TEST(WindowOptions, WithoutAModelTheOptionsAreOfEachThatIsOpenedLater) {
    const auto request = requestOf({"--dtype", "f32", "--worker", "w"});
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_TRUE(request->open.empty());
    EXPECT_EQ(request->trace.dtype, TraceDtype::f32);
    EXPECT_EQ(request->worker, "w");
}

TEST(WindowOptions, WhatIsAboutOneModelIsRefusedWithoutIt) {
    for (const QStringList& words :
         {QStringList{"--plan", "plan.json"}, QStringList{"--trust-remote-code"},
          QStringList{"--worker", "w", "--worker-model", "/there"}, QStringList{"--screenshots", "folder"},
          QStringList{"--plan", "plan.json", "one", "another"}}) {
        const auto request = requestOf(words);
        ASSERT_FALSE(request.ok()) << words.join(' ').toStdString();
        EXPECT_EQ(request.error().code, ErrorCode::usage);
        EXPECT_NE(request.error().message.find("name that MODEL"), std::string::npos)
            << request.error().message;
    }
    EXPECT_FALSE(requestOf({"--worker-model", "/there", "model"}).ok());
}

TEST(WindowOptions, AValueThatIsNoneIsRefused) {
    for (const QStringList& words : {QStringList{"--dtype", "int8"}, QStringList{"--time-limit", "soon"},
                                     QStringList{"--time-limit", "-1"}}) {
        const auto request = requestOf(words);
        ASSERT_FALSE(request.ok()) << words.join(' ').toStdString();
        EXPECT_NE(request.error().message.find(words[0].toStdString()), std::string::npos);
    }
}

class WindowOfOptions : public OwnFolder {};

TEST_F(WindowOfOptions, WorkerAndDtypeReachTheModelsThatItOpens) {
    Appearance appearance;
    MainWindow window(m_locations, appearance);
    window.setWorker("the worker");
    window.setTrace({TraceDtype::f32, false, false, {}});
    ModelTab* tab = openSmallIn(window);
    EXPECT_EQ(tab->document().worker(), "the worker");
    QSettings().setValue("window/openModels", QStringList{"/nowhere/model\n\n"});
    window.reopenLast();
    ASSERT_EQ(window.tabCount(), 2);
    EXPECT_EQ(window.tab(1)->document().request().trace.dtype, TraceDtype::f32);
    EXPECT_EQ(window.tab(1)->document().worker(), "the worker");
}

TEST_F(WindowOfOptions, AModelComesBackInTheTypeThatItWasOpenedIn) {
    Appearance appearance;
    MainWindow window(m_locations, appearance);
    QSettings().setValue("window/openModels", QStringList{"/nowhere/model\n\nf32", "/nowhere/older"});
    window.reopenLast();
    ASSERT_EQ(window.tabCount(), 2);
    EXPECT_EQ(window.tab(0)->document().request().trace.dtype, TraceDtype::f32);
    EXPECT_EQ(window.tab(1)->document().request().trace.dtype, TraceDtype::automatic);
}

} // namespace
} // namespace workbench::gui::test
