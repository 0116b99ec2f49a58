#pragma once

#include "app/session/bisect_session.h"

#include <QtWidgets/QWidget>

class QComboBox;
class QLabel;
class QPushButton;

namespace workbench::gui {

class StepModel;

/// Finds the guilty site: the button, the tries as they come, and what was found.
class BisectView : public QWidget {
    Q_OBJECT
public:
    explicit BisectView(QWidget* parent = nullptr);

    void begin(std::vector<std::string> sites);
    void addSteps(const std::vector<BisectStep>& steps);
    void finish(const SessionBisect& found, SessionBisectRequest::By by);
    void stop(const QString& words); ///< it ended without a result
    void setStartEnabled(bool enabled);

Q_SIGNALS:
    void startRequested(SessionBisectRequest::By by);
    void siteActivated(const QString& site); ///< one of the guilty ones was clicked

private:
    QComboBox* m_by;
    QPushButton* m_start;
    QLabel* m_sentence;
    StepModel* m_steps;
};

} // namespace workbench::gui
