#pragma once

#include <QtCore/QModelIndex>
#include <QtCore/QString>
#include <QtGui/QKeySequence>
#include <QtWidgets/QWidget>

class QAbstractItemView;
class QSpinBox;

/// What a user does with mouse and keyboard. Keys go to whatever has the focus, as they do at a desk.

namespace workbench::gui::test {

void pressKey(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
void pressKeys(QKeySequence::StandardKey keys); ///< as this platform has them
void typeText(const QString& text);
/// In the middle of it; a widget that is out of sight or disabled fails the test.
void clickOn(QWidget* widget);
/// In the middle of a cell, scrolled to first.
void clickOn(QAbstractItemView* view, const QModelIndex& index);
void enterNumber(QSpinBox* box, int number);
/// Pastes a path into the file dialog that comes next, and Return. Call it before what opens the dialog,
/// since that waits for the answer.
void answerFileDialog(const QString& path);

} // namespace workbench::gui::test
