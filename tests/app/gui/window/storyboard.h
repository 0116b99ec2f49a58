#pragma once

#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"
#include "tests/support/temporary_folder.h"

#include <QtTest/QTest>

#include <gtest/gtest.h>

#include <memory>

namespace workbench::gui::test {

/// The whole work on one model, by mouse and keyboard through the window's own widgets, with the tracer and,
/// where it is built, the worker. Each step fails the test where the window does not show what it should.
class Storyboard : public TemporaryFolder {
protected:
    void SetUp() override;
    void TearDown() override;

    /// All of it; stops at the first step that cannot go on.
    void play(const QString& folder, int openSeconds, int verifySeconds);

    // Its steps and their parts, for other stories.
    void openModel(const QString& folder, int seconds);
    void find();
    void chooseAndInspect();
    void rejectWithNoteAndUndo();
    void applyAll();
    void verify(int seconds);
    void measure();
    void savePlan();
    void quitAndComeBack(int seconds);

    Document& document() const { return m_tab->document(); }
    template <class T>
    T* part(const char* panel, const char* name) const {
        m_tab->workspace()->showPanel(panel);
        QTest::qWait(1); // for the layout
        T* found = m_tab->workspace()->panel(panel)->findChild<T*>(name);
        if (!found)
            ADD_FAILURE() << panel << " has no " << name;
        return found;
    }
    QString text(const char* panel, const char* name) const;
    void waitUntilReady(int seconds);
    void waitForJob(int seconds) const;
    MainWindow& window() const { return *m_window; }
    ModelTab& tab() const { return *m_tab; }
    bool runs() const { return m_runs; }
    QModelIndex rowOf(std::size_t site, int column) const;
    QString planFile() const { return QString::fromStdString((folder() / "plan.json").string()); }

private:
    Locations m_locations;
    Appearance m_appearance;
    std::unique_ptr<MainWindow> m_window;
    ModelTab* m_tab = nullptr;
    std::size_t m_site = 0; ///< the one that is inspected and rejected
    bool m_runs = false;    ///< the worker is there
};

} // namespace workbench::gui::test
