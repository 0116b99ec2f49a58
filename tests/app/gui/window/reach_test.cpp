#include "tests/app/gui/window/own_folder.h"

#include <QtGui/QAccessible>
#include <QtTest/QTest>
#include <QtWidgets/QAbstractButton>
#include <QtWidgets/QAbstractScrollArea>
#include <QtWidgets/QApplication>
#include <QtWidgets/QTabBar>

#include <set>

/// What somebody without a mouse, or without the picture, has of the window.

namespace workbench::gui::test {
namespace {

class Reach : public OwnFolder {
protected:
    void SetUp() override {
        OwnFolder::SetUp();
        m_appearance = std::make_unique<Appearance>();
        m_window = std::make_unique<MainWindow>(m_locations, *m_appearance);
        m_window->resize(1600, 1000);
        m_window->show();
        m_window->activateWindow();
    }

    ModelTab* openSmall() {
        ModelTab* tab = openSmallIn(*m_window);
        settle(tab->document());
        return tab;
    }

    /// What can get the focus by Tab now.
    std::set<QWidget*> stops() const {
        std::set<QWidget*> found;
        for (QWidget* widget : m_window->findChildren<QWidget*>())
            if (widget->focusPolicy() & Qt::TabFocus && widget->isVisible() && widget->isEnabled() &&
                !widget->focusProxy())
                found.insert(widget);
        return found;
    }

    static std::string nameOf(const QWidget* widget) {
        return std::string(widget->metaObject()->className()) + " \"" + widget->objectName().toStdString() +
               "\" in \"" +
               (widget->parentWidget() ? widget->parentWidget()->objectName().toStdString() : "") + "\"";
    }

    static QString spokenName(QWidget* widget) {
        QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(widget);
        return spoken ? spoken->text(QAccessible::Name) : QString();
    }

    void expectNames() const {
        for (QWidget* widget : stops())
            EXPECT_FALSE(spokenName(widget).trimmed().isEmpty())
                << nameOf(widget) << " has no accessible name";
    }

    void expectReachedByTab() const {
        const std::set<QWidget*> wanted = stops();
        ASSERT_FALSE(wanted.empty());
        (*wanted.begin())->setFocus(Qt::TabFocusReason);
        std::set<QWidget*> reached;
        for (std::size_t i = 0; i < 3 * wanted.size() + 10; ++i) {
            QWidget* at = QApplication::focusWidget();
            ASSERT_NE(at, nullptr) << "the focus is lost after " << reached.size() << " widgets";
            reached.insert(at);
            QTest::keyClick(at, Qt::Key_Tab);
        }
        for (QWidget* widget : wanted)
            EXPECT_TRUE(reached.contains(widget) || !widget->isVisible() || !widget->isEnabled())
                << nameOf(widget) << " is not reached by Tab";
    }

    std::unique_ptr<Appearance> m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

TEST_F(Reach, EveryControlOfTheStartPageHasANameAndIsReachedByTab) {
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    expectNames();
    expectReachedByTab();
}

TEST_F(Reach, EveryControlOfAFailedOpeningHasANameAndIsReachedByTab) {
    OpenRequest request;
    request.model = QString::fromStdString((folder() / "missing.pt2").string());
    ModelTab* tab = m_window->openModel(request);
    ASSERT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    expectNames();
    expectReachedByTab();
}

TEST_F(Reach, EveryControlOfEveryPanelHasANameAndIsReachedByTab) {
    ModelTab* tab = openSmall();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    for (const QString& id : tab->workspace()->ids()) {
        tab->workspace()->showPanel(id);
        ASSERT_TRUE(waitFor([&] { return !tab->document().working(); }));
        QTest::qWait(50);
        SCOPED_TRACE(id.toStdString());
        expectNames();
        expectReachedByTab();
    }
}

} // namespace
} // namespace workbench::gui::test
