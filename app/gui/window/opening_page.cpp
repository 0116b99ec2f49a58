#include "app/gui/window/opening_page.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QMap>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QListWidget>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kWidth = 720;

QLabel* textLabel(double scale, bool bold) {
    auto* label = new QLabel;
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * scale);
    font.setBold(bold);
    label->setFont(font);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

/// A column of limited width in the middle of the page.
QVBoxLayout* centredColumn(QWidget* page) {
    auto* content = new QWidget;
    content->setMaximumWidth(kWidth);
    auto* outer = new QHBoxLayout(page);
    outer->setContentsMargins(32, 48, 32, 32);
    outer->addStretch(1);
    outer->addWidget(content, 100);
    outer->addStretch(1);
    auto* column = new QVBoxLayout(content);
    column->setSpacing(12);
    return column;
}

/// A message that begins with a word begins with a capital here; names of files and modules stay as they are.
QString asSentence(QString message) {
    const QString word = message.section(' ', 0, 0);
    if (std::all_of(word.begin(), word.end(), [](QChar c) { return c.isLower(); }) && !word.isEmpty())
        message[0] = message[0].toUpper();
    return message;
}

QString seconds(qint64 milliseconds) {
    return OpeningPage::tr("%1 s").arg(static_cast<double>(milliseconds) / 1000, 0, 'f', 1);
}

} // namespace

QString stageText(const QString& stage) {
    static const QMap<QString, const char*> known = {
        {"build", QT_TRANSLATE_NOOP("stages", "Building the model without its weights")},
        {"export", QT_TRANSLATE_NOOP("stages", "Tracing the layers")},
        {"proof", QT_TRANSLATE_NOOP("stages", "Proving the trace on a small copy")},
        {"write", QT_TRANSLATE_NOOP("stages", "Writing the trace")},
        {"read", QT_TRANSLATE_NOOP("stages", "Reading the graph and finding fusions")},
        {"plan", QT_TRANSLATE_NOOP("stages", "Reading the plan")},
        {"rewrite", QT_TRANSLATE_NOOP("stages", "Rewriting the graph")},
        {"wait", QT_TRANSLATE_NOOP("stages", "Waiting for another window")},
        {"worker", QT_TRANSLATE_NOOP("stages", "Starting the worker")},
        {"load", QT_TRANSLATE_NOOP("stages", "Loading weights")},
        {"verify", QT_TRANSLATE_NOOP("stages", "Comparing numbers")},
        {"generate", QT_TRANSLATE_NOOP("stages", "Generating text")},
        {"environment", QT_TRANSLATE_NOOP("stages", "Making the Python environment")},
        {"check", QT_TRANSLATE_NOOP("stages", "Checking the environment")},
        {"run", QT_TRANSLATE_NOOP("stages", "Running the programs")},
    };
    const char* text = known.value(stage);
    return text ? QCoreApplication::translate("stages", text) : stage;
}

OpeningPage::OpeningPage(QWidget* parent)
    : QWidget(parent), m_title(textLabel(1.5, true)), m_detail(textLabel(1, false)),
      m_stages(new QListWidget), m_cancel(new QPushButton(tr("Cancel"))) {
    setObjectName("openingPage");
    m_stages->setAccessibleName(tr("Stages of the opening"));
    m_stages->setSelectionMode(QAbstractItemView::NoSelection);
    m_stages->setFocusPolicy(Qt::NoFocus);
    m_stages->setFrameShape(QFrame::NoFrame);
    m_stages->viewport()->setAutoFillBackground(false);
    auto* bar = new QProgressBar;
    bar->setRange(0, 0);
    bar->setTextVisible(false);
    bar->setAccessibleName(tr("Opening"));
    m_cancel->setObjectName("cancelOpening");
    m_cancel->setToolTip(tr("Stop at once (Esc)"));
    m_cancel->setShortcut(Qt::Key_Escape);
    connect(m_cancel, &QPushButton::clicked, this, &OpeningPage::cancelWanted);
    QVBoxLayout* column = centredColumn(this);
    column->addWidget(m_title);
    column->addWidget(bar);
    column->addWidget(m_stages, 1);
    column->addWidget(m_detail);
    column->addWidget(m_cancel, 0, Qt::AlignLeft);
    m_timer.setInterval(100);
    connect(&m_timer, &QTimer::timeout, this, &OpeningPage::tick);
}

void OpeningPage::begin(const QString& model) {
    m_title->setText(tr("Opening %1").arg(model));
    m_detail->clear();
    m_stages->clear();
    m_stage.clear();
}

void OpeningPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_timer.start();
}

void OpeningPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_timer.stop();
}

void OpeningPage::showStage(const QString& stage, const QString& detail) {
    m_detail->setText(detail);
    if (stage == m_stage)
        return;
    tick();
    m_stage = stage;
    m_stageTime.start();
    m_stages->addItem(stageText(stage));
}

void OpeningPage::tick() {
    if (m_stages->count() > 0)
        m_stages->item(m_stages->count() - 1)
            ->setText(stageText(m_stage) + "   " + seconds(m_stageTime.elapsed()));
}

QString openingAdvice(const Error& error) {
    switch (error.code) {
    case ErrorCode::cancelled:
        return ErrorPage::tr("You stopped it. Nothing was changed; open it again whenever you like.");
    case ErrorCode::cannotTrace:
        return ErrorPage::tr(
            "The model's own Python code could not be turned into a graph. The place above is where "
            "it stopped. Change that line of the model, or export it yourself with torch.export and open "
            "the .pt2 archive.");
    case ErrorCode::badInput:
        return ErrorPage::tr(
            "Check that the folder is complete (config.json at least) and readable, that a .pt2 "
            "archive was written by torch.export, or that the name is spelled org/name. Put it right "
            "and try again: what was found so far is kept.");
    default:
        return ErrorPage::tr("Try again. If it happens again, close other programs that use much memory.");
    }
}

ErrorPage::ErrorPage(QWidget* parent)
    : QWidget(parent), m_title(textLabel(1.5, true)), m_message(textLabel(1.1, false)),
      m_where(textLabel(1, false)), m_advice(textLabel(1, false)),
      m_setup(new QPushButton(tr("Set it up…"))), m_again(new QPushButton(tr("Try again"))) {
    setObjectName("errorPage");
    m_message->setObjectName("errorMessage");
    auto* close = new QPushButton(tr("Close this tab"));
    m_again->setObjectName("tryAgain");
    m_setup->setObjectName("setUp");
    m_setup->setToolTip(tr("Make the Python environment, after saying what that takes"));
    connect(m_setup, &QPushButton::clicked, this, &ErrorPage::setupWanted);
    connect(m_again, &QPushButton::clicked, this, &ErrorPage::againWanted);
    connect(close, &QPushButton::clicked, this, &ErrorPage::closeWanted);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_setup);
    buttons->addWidget(m_again);
    buttons->addWidget(close);
    buttons->addStretch(1);
    QVBoxLayout* column = centredColumn(this);
    for (QWidget* part : {m_title, m_message, m_where, m_advice})
        column->addWidget(part);
    column->addSpacing(8);
    column->addLayout(buttons);
    column->addStretch(1);
}

void ErrorPage::showError(const QString& model, const Error& error, bool lacksPython) {
    m_title->setText(error.code == ErrorCode::cancelled ? tr("Opening %1 was cancelled").arg(model)
                                                        : tr("%1 could not be opened").arg(model));
    m_message->setText(asSentence(QString::fromStdString(error.message)));
    m_where->setText(tr("Where: %1").arg(QString::fromStdString(error.where)));
    m_where->setVisible(!error.where.empty() && error.message.find(error.where) == std::string::npos);
    m_advice->setText(lacksPython
                          ? tr("Models are traced by PyTorch, in a Python environment that has to be made "
                               "once. Archives (.pt2) open without it.")
                          : openingAdvice(error));
    m_setup->setVisible(lacksPython);
    (lacksPython ? m_setup : m_again)->setDefault(true);
}

} // namespace workbench::gui
