#pragma once

#include "app/session/bench_report.h"

#include <QtCore/QObject>
#include <QtCore/QSettings>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;
class QWidget;

namespace workbench::gui {

/// The rows of a form that say what every program has to do: the loads of the command line.
class LoadRows : public QObject {
    Q_OBJECT
public:
    explicit LoadRows(QFormLayout& rows); ///< adds them

    BenchLoad load() const;    ///< without the requests of the trace file
    QString traceFile() const; ///< "": the load is none of a file
    QString fault() const;     ///< why that cannot be measured; "": it can
    void setEnabled(bool enabled);

    void saveState(QSettings& settings) const;
    void restoreState(const QSettings& settings);

private:
    QWidget* makeTraceRow();
    void makePromptRows();
    void makeCountRows();
    void kindChosen();
    void showRows();
    void chooseTrace();
    LoadKind kind() const;
    bool takesTexts() const;
    std::vector<std::string> prompts() const;
    QList<QWidget*> entries() const;

    QFormLayout& m_rows;
    QComboBox* m_kind;
    QWidget* m_traceRow;
    QLineEdit* m_trace;
    QComboBox* m_promptKind;
    QWidget* m_tokensRow;
    QSpinBox* m_promptTokens;
    QLabel* m_arrow;
    QPlainTextEdit* m_prompts;
    QSpinBox* m_newTokens;
    QLabel* m_concurrencyLabel;
    QSpinBox* m_concurrency;
    QSpinBox* m_rounds;
};

} // namespace workbench::gui
