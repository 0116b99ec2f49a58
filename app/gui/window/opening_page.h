#pragma once

#include "core/support/result.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QTimer>
#include <QtWidgets/QWidget>

class QLabel;
class QListWidget;
class QPushButton;

namespace workbench::gui {

/// "export" -> "Tracing the layers": a stage of tracer, session or worker in words; itself when it is not
/// known.
QString stageText(const QString& stage);

/// What goes on while a model is opened: each stage with its time, and a way out.
class OpeningPage : public QWidget {
    Q_OBJECT
public:
    explicit OpeningPage(QWidget* parent = nullptr);
    void begin(const QString& model);
    void showStage(const QString& stage, const QString& detail);

Q_SIGNALS:
    void cancelWanted();

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void tick();

    QLabel* m_title;
    QLabel* m_detail;
    QListWidget* m_stages;
    QPushButton* m_cancel;
    QElapsedTimer m_stageTime;
    QString m_stage;
    QTimer m_timer;
};

/// Why a model could not be opened, and what to do.
class ErrorPage : public QWidget {
    Q_OBJECT
public:
    explicit ErrorPage(QWidget* parent = nullptr);
    /// `lacksPython`: setting the environment up is what helps.
    void showError(const QString& model, const Error& error, bool lacksPython);

Q_SIGNALS:
    void againWanted();
    void setupWanted();
    void closeWanted();

private:
    QLabel* m_title;
    QLabel* m_message;
    QLabel* m_where;
    QLabel* m_advice;
    QPushButton* m_setup;
    QPushButton* m_again;
};

/// What a user can do about an error of that kind while opening a model.
QString openingAdvice(const Error& error);

} // namespace workbench::gui
