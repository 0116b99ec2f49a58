#pragma once

#include <QtWidgets/QWidget>

class QComboBox;
class QLabel;
class QToolButton;

namespace workbench::gui {

class ElidedLabel;

/// Where one is among the rewrites: filter by pattern, previous, "3 of 57", next, and what the rewrite does.
class StepBar : public QWidget {
    Q_OBJECT
public:
    explicit StepBar(QWidget* parent = nullptr);

    void setPatterns(const QStringList& patterns); ///< keeps the choice where it still is one
    QString pattern() const;                       ///< "": all
    /// `at` counts from 0, -1: none is shown.
    void setPlace(int at, int total, const QString& what);

Q_SIGNALS:
    void stepRequested(int by);
    void patternChanged();

private:
    QComboBox* m_pattern;
    QToolButton *m_previous, *m_next;
    QLabel* m_place;
    ElidedLabel* m_what;
};

} // namespace workbench::gui
