#include "app/gui/window/setup_dialog.h"

#include "app/gui/window/opening_page.h"

#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QVBoxLayout>

namespace workbench::gui {
namespace {

constexpr int kWidth = 520;

QLabel* textLabel(const char* name) {
    auto* label = new QLabel;
    label->setObjectName(name);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

QString reportText(const SetupReport& report) {
    QStringList lines;
    for (const auto& [name, value] : report)
        lines << QString::fromStdString(name + ": " + value);
    return lines.join('\n');
}

} // namespace

SetupDialog::SetupDialog(Locations locations, QWidget* parent)
    : QDialog(parent), m_locations(std::move(locations)), m_text(textLabel("setupText")),
      m_detail(textLabel("setupDetail")), m_progress(new QProgressBar),
      m_start(new QPushButton(tr("Set it &up"))), m_close(new QPushButton(tr("Close"))) {
    setObjectName("setup");
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Python environment"));
    m_text->setText(tr("Models are traced and run by PyTorch, in a Python environment of the workbench's "
                       "own. Where there is "
                       "none yet, about 5 GiB are downloaded and unpacked into %1, which takes a few "
                       "minutes. One that is there "
                       "is checked. Nothing else on this computer is changed.")
                        .arg(QString::fromStdString(m_locations.cache.string())));
    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the setup"));
    m_start->setObjectName("startSetup");
    m_start->setDefault(true);
    m_close->setObjectName("closeSetup");
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_start);
    buttons->addWidget(m_close);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_text);
    column->addWidget(m_progress);
    column->addWidget(m_detail);
    column->addStretch(1);
    column->addLayout(buttons);
    setMinimumWidth(kWidth);
    connect(m_start, &QPushButton::clicked, this, &SetupDialog::start);
    connect(m_close, &QPushButton::clicked, this, [this] {
        if (m_running.valid())
            m_running.cancel(); // what it says then is read before it is closed
        else
            close();
    });
    showRunning(false);
}

void SetupDialog::start() {
    if (m_running.valid())
        return;
    m_running = m_jobs.start(
        this,
        [this, locations = m_locations](const Job& job) -> Closure {
            const auto result = guarded<SetupReport>([&] { return setUp(locations, job); });
            return [this, result] { finish(result); };
        },
        [this](const QString& stage, const QString& detail) {
            m_detail->setText(stageText(stage) + "\n" + detail);
        });
    m_detail->setText(tr("Starting…"));
    showRunning(true);
}

void SetupDialog::finish(const Result<SetupReport>& result) {
    m_running = {};
    showRunning(false);
    if (result) {
        m_text->setText(tr("The Python environment is there and works."));
        m_detail->setText(reportText(*result));
        m_start->hide();
        Q_EMIT completed();
    } else {
        m_detail->setText(result.error().code == ErrorCode::cancelled
                              ? tr("You stopped it. What was half made is removed.")
                              : QString::fromStdString(result.error().message));
    }
}

void SetupDialog::showRunning(bool running) {
    m_progress->setVisible(running);
    m_start->setEnabled(!running);
    m_close->setText(running ? tr("Cancel") : tr("Close"));
}

} // namespace workbench::gui
