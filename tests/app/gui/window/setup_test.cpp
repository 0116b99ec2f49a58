#include "app/gui/window/setup_dialog.h"
#include "tests/app/gui/support/user.h"
#include "tests/app/gui/window/own_folder.h"

#include <QtCore/QElapsedTimer>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>

/// Making and checking the Python environment from the window, with programs that stand for Python.

namespace workbench::gui::test {
namespace {

class SetupTest : public OwnFolder {
protected:
    void usePython(const std::string& script) {
        writeFile("python", "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(folder() / "python", std::filesystem::perms::owner_all);
        qputenv("WORKBENCH_PYTHON", (folder() / "python").c_str());
    }
    static SetupDialog* show(const Locations& locations) {
        auto* dialog = new SetupDialog(locations, nullptr);
        dialog->show();
        return dialog;
    }
    static QString text(const QWidget* dialog, const char* name) {
        return dialog->findChild<QLabel*>(name)->text();
    }
};

TEST_F(SetupTest, SaysWhatItTakesBeforeItBegins) {
    usePython("exit 1");
    const std::unique_ptr<SetupDialog> dialog(show(m_locations));
    EXPECT_TRUE(text(dialog.get(), "setupText").contains("5 GiB"));
    EXPECT_TRUE(text(dialog.get(), "setupText").contains(QString::fromStdString(m_locations.cache.string())));
    EXPECT_FALSE(dialog->findChild<QProgressBar*>()->isVisible());
}

TEST_F(SetupTest, AnEnvironmentThatIsThereIsCheckedAndToldOf) {
    usePython("echo torch 2.11.0");
    const std::unique_ptr<SetupDialog> dialog(show(m_locations));
    QSignalSpy completed(dialog.get(), &SetupDialog::completed);
    clickOn(dialog->findChild<QPushButton*>("startSetup"));
    ASSERT_TRUE(waitFor([&] { return completed.count() > 0; }, 60));
    EXPECT_TRUE(text(dialog.get(), "setupDetail").contains("torch: 2.11.0"))
        << text(dialog.get(), "setupDetail").toStdString();
}

TEST_F(SetupTest, ACancelStopsItAtOnce) {
    usePython("exec sleep 600");
    const std::unique_ptr<SetupDialog> dialog(show(m_locations));
    clickOn(dialog->findChild<QPushButton*>("startSetup"));
    EXPECT_TRUE(dialog->findChild<QProgressBar*>()->isVisible());
    clickOn(dialog->findChild<QPushButton*>("closeSetup"));
    ASSERT_TRUE(waitFor([&] { return text(dialog.get(), "setupDetail").startsWith("You stopped it"); }));
    EXPECT_TRUE(dialog->isVisible()) << "what it says is read";
    EXPECT_TRUE(dialog->findChild<QPushButton*>("startSetup")->isEnabled());
}

TEST_F(SetupTest, ClosingItWhileItRunsStopsItToo) {
    usePython("exec sleep 600");
    std::unique_ptr<SetupDialog> dialog(show(m_locations));
    clickOn(dialog->findChild<QPushButton*>("startSetup"));
    QTest::qWait(100);
    QElapsedTimer clock;
    clock.start();
    dialog.reset();
    EXPECT_LT(clock.elapsed(), 5000);
}

TEST_F(SetupTest, AModelThatLacksPythonOffersIt) {
    qputenv("WORKBENCH_PYTHON", "/nowhere/python");
    std::filesystem::create_directory(folder() / "model");
    writeFile("model/config.json", "{\"model_type\": \"llama\"}");
    Appearance appearance;
    MainWindow window(m_locations, appearance);
    window.show();
    OpenRequest request;
    request.model = QString::fromStdString((folder() / "model").string());
    ModelTab* tab = window.openModel(request);
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    QTest::qWait(1); // for the layout
    auto* offer = tab->findChild<QPushButton*>("setUp");
    ASSERT_TRUE(offer && offer->isVisible());
    clickOn(offer);
    auto* dialog = tab->findChild<SetupDialog*>();
    ASSERT_NE(dialog, nullptr);
    QTest::qWait(1);
    clickOn(dialog->findChild<QPushButton*>("startSetup"));
    ASSERT_TRUE(waitFor([&] { return text(dialog, "setupDetail").contains("WORKBENCH_PYTHON"); }))
        << "the user's own choice is not replaced: " << text(dialog, "setupDetail").toStdString();
    dialog->close();
}

TEST_F(SetupTest, AnotherFailureOffersNoSetup) {
    Appearance appearance;
    MainWindow window(m_locations, appearance);
    window.show();
    ModelTab* tab = window.openModel(missing());
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    QTest::qWait(1);
    EXPECT_FALSE(tab->findChild<QPushButton*>("setUp")->isVisible());
}

} // namespace
} // namespace workbench::gui::test
