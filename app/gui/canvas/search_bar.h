#pragma once

#include <QtWidgets/QWidget>

class QLabel;
class QLineEdit;
class QTimer;
class QToolButton;

namespace workbench::gui {

/// Text, "3 of 28", previous, next, close. It knows no graph: whoever owns it searches.
class SearchBar : public QWidget {
    Q_OBJECT
public:
    explicit SearchBar(QWidget* parent = nullptr);

    QString text() const;
    /// Shows the bar and takes the keyboard; the old text is selected.
    void open();
    void close();
    /// `at` counts from 0, -1 when none is current. `more`: there are more hits than were asked for.
    void setHits(int at, int total, bool more);
    void setFault(const QString& words); ///< instead of a count

Q_SIGNALS:
    void searchRequested(const QString& text); ///< the text changed, after a short rest
    void nextRequested();
    void previousRequested();
    void closed();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void searchNow();
    QToolButton* addButton(const QString& name, const QString& text, const QString& tip);

    QLineEdit* m_edit;
    QLabel* m_count;
    QTimer* m_rest;
    QToolButton *m_previous, *m_next;
};

} // namespace workbench::gui
