#pragma once

#include "app/session/measurement.h"

#include <QtCore/QSettings>
#include <QtWidgets/QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace workbench::gui {

/// What the user wants measured, and where.
struct MeasureChoice {
    QString worker; ///< command; "": the worker beside this program
    MeasureRequest request;
};

/// The form at the left of the panel: worker, device, load. Remembers what was entered.
class MeasureForm : public QWidget {
    Q_OBJECT
public:
    explicit MeasureForm(QWidget* parent = nullptr);

    MeasureChoice choice() const;
    QString fault() const;                ///< why that cannot be measured; "": it can
    void setEntriesEnabled(bool enabled); ///< not while something runs
    /// What the worker said of itself: its devices become choices.
    void showWorker(const nlohmann::json& hello);
    void rememberWorker(); ///< the command worked: it stays in the list

    void saveState(QSettings& settings) const;
    void restoreState(const QSettings& settings);

Q_SIGNALS:
    void askRequested(); ///< say hello to the worker

private:
    QWidget* makeWorkerRow();
    void makeLoadRows(QFormLayout& rows);
    void showLoadKind();
    std::vector<std::string> prompts() const;
    QString workerCommand() const;

    QComboBox* m_worker;
    QPushButton* m_ask;
    QComboBox* m_device;
    QLabel* m_about;
    QComboBox* m_loadKind;
    QSpinBox* m_promptTokens;
    QPlainTextEdit* m_prompts;
    QSpinBox* m_newTokens;
    QSpinBox* m_rounds;
    QCheckBox* m_leaveOneOut;
    QFormLayout* m_rows;
};

} // namespace workbench::gui
