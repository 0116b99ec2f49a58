#pragma once

#include <QtWidgets/QFrame>

#include <functional>

class QBoxLayout;
class QLabel;

namespace workbench::gui {

/// A sentence above a tab's content, with what can be done about it. Never in the way: no dialog, closed with
/// a button.
class NoticeBar : public QFrame {
    Q_OBJECT
public:
    enum class Kind { note, warning, problem };
    struct Choice {
        QString text;
        std::function<void()> act; ///< the bar is closed before
    };
    NoticeBar(Kind kind, const QString& sentence, const std::vector<Choice>& choices, QWidget* parent);
    QString sentence() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void paintIt();
    Kind m_kind;
    QLabel* m_text;
};

/// Notices of a tab, newest last; an equal sentence is there once.
class NoticeStack : public QWidget {
    Q_OBJECT
public:
    explicit NoticeStack(QWidget* parent);
    void tell(NoticeBar::Kind kind, const QString& sentence,
              const std::vector<NoticeBar::Choice>& choices = {});
    void clear();

private:
    QBoxLayout* m_bars;
};

} // namespace workbench::gui
