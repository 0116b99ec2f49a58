#include "tests/app/gui/support/user.h"

#include <QtCore/QTimer>
#include <QtGui/QClipboard>
#include <QtTest/QTest>
#include <QtWidgets/QAbstractItemView>
#include <QtWidgets/QApplication>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QSpinBox>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

constexpr int kLookEveryMs = 50;
constexpr int kMostLooks = 400;

QWidget* keyboard() {
    QWidget* focus = QApplication::focusWidget();
    return focus ? focus : QApplication::activeWindow();
}

} // namespace

void pressKey(Qt::Key key, Qt::KeyboardModifiers modifiers) {
    ASSERT_NE(keyboard(), nullptr) << "no window has the keyboard";
    QTest::keyClick(keyboard(), key, modifiers);
}

void pressKeys(QKeySequence::StandardKey keys) {
    const QKeySequence sequence(keys);
    ASSERT_FALSE(sequence.isEmpty()) << "this platform has no such keys";
    pressKey(sequence[0].key(), sequence[0].keyboardModifiers());
}

void typeText(const QString& text) {
    for (const QChar letter : text) {
        ASSERT_NE(keyboard(), nullptr) << "no window has the keyboard";
        QTest::keyClick(keyboard(), letter.toLatin1());
    }
}

void clickOn(QWidget* widget) {
    ASSERT_NE(widget, nullptr);
    ASSERT_TRUE(widget->isVisible() && !widget->visibleRegion().isEmpty())
        << widget->objectName().toStdString() << " is out of sight";
    ASSERT_TRUE(widget->isEnabled()) << widget->objectName().toStdString() << " is disabled";
    QTest::mouseClick(widget, Qt::LeftButton, Qt::NoModifier,
                      widget->visibleRegion().boundingRect().center());
}

void clickOn(QAbstractItemView* view, const QModelIndex& index) {
    ASSERT_TRUE(index.isValid());
    view->scrollTo(index);
    const QRect cell = view->visualRect(index);
    ASSERT_TRUE(view->viewport()->rect().contains(cell.center())) << "the cell is out of sight";
    QTest::mouseClick(view->viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
}

void enterNumber(QSpinBox* box, int number) {
    ASSERT_NE(box, nullptr);
    box->setFocus(Qt::TabFocusReason);
    box->selectAll();
    QTest::keyClicks(box, QString::number(number));
    QTest::keyClick(box, Qt::Key_Tab);
    ASSERT_EQ(box->value(), number);
}

void answerFileDialog(const QString& path) {
    auto* look = new QTimer(qApp);
    look->setInterval(kLookEveryMs);
    QObject::connect(look, &QTimer::timeout, look,
                     [look, path, window = QApplication::activeWindow(), looks = 0]() mutable {
                         auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
                         if (!dialog && ++looks < kMostLooks)
                             return;
                         look->stop();
                         look->deleteLater();
                         ASSERT_NE(dialog, nullptr) << "no file dialog came";
                         auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
                         ASSERT_NE(name, nullptr);
                         // Without a window manager nobody hands the keyboard back.
                         QObject::connect(
                             dialog, &QDialog::finished, window, [window] { window->activateWindow(); },
                             Qt::QueuedConnection);
                         QGuiApplication::clipboard()->setText(
                             path); // typed letter by letter, completions would come in between
                         name->selectAll();
                         QTest::keyClick(name, Qt::Key_V, Qt::ControlModifier);
                         QTest::keyClick(name, Qt::Key_Return);
                     });
    look->start();
}

} // namespace workbench::gui::test
