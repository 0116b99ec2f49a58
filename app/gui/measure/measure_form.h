#pragma once

#include "app/session/measurement.h"

#include <QtCore/QSettings>
#include <QtWidgets/QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QPushButton;

namespace workbench::gui {

class LoadRows;

/// What the user wants measured, and where.
struct MeasureChoice {
    QString worker; ///< command; "": the worker beside this program
    MeasureRequest request;
    QString traceFile; ///< whose requests are the load; "": the load is whole
};

/// The load with the requests of its file. Reads it: for a thread.
Result<BenchLoad> wholeLoad(const MeasureChoice& choice);

/// The form at the left of the panel: worker, device, load. Remembers what was entered.
class MeasureForm : public QWidget {
    Q_OBJECT
public:
    explicit MeasureForm(QWidget* parent = nullptr);

    MeasureChoice choice() const;
    QString fault() const;                ///< why that cannot be measured; "": it can
    void setEntriesEnabled(bool enabled); ///< not while something runs
    /// What the worker said of itself: its devices become choices; one that it lacks says so.
    void showWorker(const nlohmann::json& hello);
    void setWorkerCommand(const QString& command);
    void setWeights(const QString& format); ///< one of kWeightFormats
    void rememberWorker();                  ///< the command worked: it stays in the list

    void saveState(QSettings& settings) const;
    void restoreState(const QSettings& settings);

Q_SIGNALS:
    void askRequested(); ///< say hello to the worker
    void workerChosen(const QString& command);
    void weightsChosen(const QString& format); ///< one of kWeightFormats

private:
    QWidget* makeWorkerRow();
    void makeDeviceRow();
    QWidget* makeWeights();
    void makeSwitches();
    void chooseWorker();
    void showUnknownDevices();
    void addAbsentDevice(const QString& text, const QString& why);
    QString workerCommand() const;

    QFormLayout* m_rows;
    QComboBox* m_worker;
    QPushButton* m_ask;
    QComboBox* m_device;
    QComboBox* m_weights;
    QLabel* m_about;
    LoadRows* m_load;
    QCheckBox* m_native;
    QCheckBox* m_eager;
    QCheckBox* m_profile;
    QCheckBox* m_leaveOneOut;
    QString m_askedWorker; ///< the command that the devices are of
};

} // namespace workbench::gui
