#pragma once

#include <QtWidgets/QDialog>

#include <map>
#include <string>

class QLabel;
class QMainWindow;
class QPushButton;

namespace workbench::gui {

/// Versions of what this program is made of, and of what the current model was traced with (name -> version).
QDialog* makeAboutDialog(QWidget* parent, const std::map<std::string, std::string>& traced);
/// Every action of the window that has a shortcut.
QDialog* makeShortcutsDialog(const QMainWindow& window, QWidget* parent);

/// Steps through the workbench beside the window: a sentence or two, and the panel that it is about in front.
class TourDialog : public QDialog {
    Q_OBJECT
public:
    explicit TourDialog(QWidget* parent);
    int step() const { return m_step; }
    static int steps();
    void go(int step);

Q_SIGNALS:
    void panelWanted(const QString& id); ///< to be shown, when there is a workspace

private:
    int m_step = 0;
    QLabel* m_title;
    QLabel* m_text;
    QLabel* m_count;
    QPushButton* m_back;
    QPushButton* m_next;
};

} // namespace workbench::gui
