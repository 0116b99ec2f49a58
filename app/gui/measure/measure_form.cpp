#include "app/gui/measure/measure_form.h"

#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPlainTextEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>

namespace workbench::gui {
namespace {

constexpr int kMostWorkers = 10; ///< that are remembered
enum LoadKind { madeUp, texts };

QSpinBox* spinBox(const char* name, const QString& accessible, int most, int value) {
    auto* box = new QSpinBox;
    box->setObjectName(name);
    box->setAccessibleName(accessible);
    box->setRange(1, most);
    box->setValue(value);
    box->setGroupSeparatorShown(true);
    return box;
}

} // namespace

MeasureForm::MeasureForm(QWidget* parent) : QWidget(parent), m_rows(new QFormLayout(this)) {
    setObjectName("measureForm");
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setVerticalSpacing(4); // a dock at the bottom is flat
    m_rows->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_rows->addRow(tr("&Worker:"), makeWorkerRow());
    qobject_cast<QLabel*>(m_rows->labelForField(m_worker->parentWidget()))->setBuddy(m_worker);
    m_device = new QComboBox;
    m_device->setObjectName("device");
    m_device->setAccessibleName(tr("Device of the worker"));
    m_device->setToolTip(tr("Where the programs run. “Ask” shows what the worker has."));
    m_device->addItem(tr("CPU"), "cpu");
    m_rows->addRow(tr("&Device:"), m_device);
    m_about = new QLabel;
    m_about->setObjectName("aboutWorker");
    m_about->setWordWrap(true);
    m_about->setForegroundRole(QPalette::PlaceholderText);
    m_about->hide();
    m_rows->addRow(m_about);
    makeLoadRows(*m_rows);
    showLoadKind();
}

QWidget* MeasureForm::makeWorkerRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_worker = new QComboBox;
    m_worker->setObjectName("worker");
    m_worker->setAccessibleName(tr("Worker: this computer, or a command that starts one elsewhere"));
    m_worker->setToolTip(tr("A command such as “ssh gpubox workbench-worker” measures on another machine."));
    m_worker->setEditable(true);
    m_worker->setInsertPolicy(QComboBox::NoInsert);
    m_worker->setMinimumContentsLength(8);
    m_worker->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_worker->lineEdit()->setPlaceholderText("ssh gpubox workbench-worker");
    m_worker->addItem(tr("This computer"));
    m_ask = new QPushButton(tr("&Ask"));
    m_ask->setObjectName("askWorker");
    m_ask->setAccessibleName(tr("Ask the worker what it is"));
    m_ask->setToolTip(tr("Starts the worker and shows its devices, threads and versions."));
    connect(m_ask, &QPushButton::clicked, this, &MeasureForm::askRequested);
    layout->addWidget(m_worker, 1);
    layout->addWidget(m_ask);
    return row;
}

void MeasureForm::makeLoadRows(QFormLayout& rows) {
    m_loadKind = new QComboBox;
    m_loadKind->setObjectName("loadKind");
    m_loadKind->setAccessibleName(tr("Kind of prompt"));
    m_loadKind->addItems({tr("Made-up tokens"), tr("Texts, one a line")});
    connect(m_loadKind, &QComboBox::currentIndexChanged, this, &MeasureForm::showLoadKind);
    rows.addRow(tr("&Prompt:"), m_loadKind);
    m_promptTokens = spinBox("promptTokens", tr("Prompt tokens"), 1 << 20, 64);
    rows.addRow(tr("Prompt &tokens:"), m_promptTokens);
    m_prompts = new QPlainTextEdit(tr("Explain in a few sentences why the sky is blue.\n"
                                      "Write a short poem about the sea.\n"
                                      "What is the difference between a list and a tuple?"));
    m_prompts->setObjectName("prompts");
    m_prompts->setAccessibleName(tr("Prompts, one a line; the rounds take them in turn"));
    m_prompts->setTabChangesFocus(true);
    m_prompts->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_prompts->setFixedHeight(6 * fontMetrics().lineSpacing());
    rows.addRow(m_prompts);
    m_newTokens = spinBox("newTokens", tr("New tokens"), 1 << 20, 32);
    rows.addRow(tr("&New tokens:"), m_newTokens);
    m_rounds = spinBox("rounds", tr("Rounds of each program"), 10000, 6);
    m_rounds->setToolTip(tr("Before and after run in turn this often. Six rounds give 95 % confidence."));
    rows.addRow(tr("&Rounds:"), m_rounds);
    m_leaveOneOut = new QCheckBox(tr("Also &without each pattern"));
    m_leaveOneOut->setObjectName("leaveOneOut");
    m_leaveOneOut->setToolTip(tr("Switches one pattern off at a time: what each one is worth."));
    rows.addRow(m_leaveOneOut);
}

void MeasureForm::showLoadKind() {
    const bool isText = m_loadKind->currentIndex() == texts;
    m_prompts->setVisible(isText);
    m_promptTokens->setVisible(!isText);
    m_rows->labelForField(m_promptTokens)->setVisible(!isText);
}

QString MeasureForm::workerCommand() const {
    const QString text = m_worker->currentText().trimmed();
    return text == m_worker->itemText(0) ? QString() : text;
}

std::vector<std::string> MeasureForm::prompts() const {
    std::vector<std::string> all;
    if (m_loadKind->currentIndex() == texts)
        for (const QString& line : m_prompts->toPlainText().split('\n'))
            if (!line.trimmed().isEmpty())
                all.push_back(line.trimmed().toStdString());
    return all;
}

MeasureChoice MeasureForm::choice() const {
    return {workerCommand(),
            {{m_promptTokens->value(), m_newTokens->value(), m_rounds->value(), prompts()},
             m_leaveOneOut->isChecked(),
             m_device->currentData().toString().toStdString()}};
}

QString MeasureForm::fault() const {
    return m_loadKind->currentIndex() == texts && prompts().empty()
               ? tr("There is no prompt: write one a line, or measure with made-up tokens.")
               : QString();
}

void MeasureForm::setEntriesEnabled(bool enabled) {
    for (QWidget* entry :
         std::initializer_list<QWidget*>{m_worker, m_ask, m_device, m_loadKind, m_promptTokens, m_prompts,
                                         m_newTokens, m_rounds, m_leaveOneOut})
        entry->setEnabled(enabled);
}

void MeasureForm::showWorker(const nlohmann::json& hello) {
    const auto text = [&](const char* key) {
        const auto found = hello.find(key);
        return found == hello.end()
                   ? QString()
                   : QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump());
    };
    m_about->setText(tr("%1 threads, %2, PyTorch %3").arg(text("threads"), text("isa"), text("torch")));
    m_about->show();
    const QString chosen = m_device->currentData().toString();
    m_device->clear();
    for (const auto& device : hello.value("devices", nlohmann::json::array()))
        if (device.is_string()) {
            const QString name = QString::fromStdString(device.get<std::string>());
            m_device->addItem(name == "cpu" ? tr("CPU") : name.toUpper(), name);
        }
    if (m_device->count() == 0)
        m_device->addItem(tr("CPU"), "cpu");
    m_device->setCurrentIndex(std::max(0, m_device->findData(chosen)));
}

void MeasureForm::rememberWorker() {
    const QString command = workerCommand();
    if (command.isEmpty())
        return;
    if (const int known = m_worker->findText(command, Qt::MatchExactly); known > 0)
        m_worker->removeItem(known);
    m_worker->insertItem(1, command);
    m_worker->setCurrentIndex(1);
    m_worker->lineEdit()->home(false); // a long command shows its beginning
    while (m_worker->count() > 1 + kMostWorkers)
        m_worker->removeItem(m_worker->count() - 1);
}

void MeasureForm::saveState(QSettings& settings) const {
    QStringList workers;
    for (int i = 1; i < m_worker->count(); ++i)
        workers << m_worker->itemText(i);
    settings.setValue("workers", workers);
    settings.setValue("worker", workerCommand());
    settings.setValue("loadKind", m_loadKind->currentIndex());
    settings.setValue("promptTokens", m_promptTokens->value());
    settings.setValue("prompts", m_prompts->toPlainText());
    settings.setValue("newTokens", m_newTokens->value());
    settings.setValue("rounds", m_rounds->value());
    settings.setValue("leaveOneOut", m_leaveOneOut->isChecked());
}

void MeasureForm::restoreState(const QSettings& settings) {
    m_worker->addItems(settings.value("workers").toStringList());
    if (const QString worker = settings.value("worker").toString(); !worker.isEmpty())
        m_worker->setCurrentText(worker);
    m_loadKind->setCurrentIndex(settings.value("loadKind", 0).toInt());
    m_promptTokens->setValue(settings.value("promptTokens", m_promptTokens->value()).toInt());
    m_prompts->setPlainText(settings.value("prompts", m_prompts->toPlainText()).toString());
    m_newTokens->setValue(settings.value("newTokens", m_newTokens->value()).toInt());
    m_rounds->setValue(settings.value("rounds", m_rounds->value()).toInt());
    m_leaveOneOut->setChecked(settings.value("leaveOneOut", false).toBool());
}

} // namespace workbench::gui
