#include "app/gui/measure/measure_form.h"

#include "app/gui/measure/load_rows.h"
#include "app/session/bench_trace.h"
#include "app/session/runtime.h"

#include <QtGui/QStandardItemModel>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPushButton>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kMostWorkers = 10; ///< that are remembered

QCheckBox* checkBox(const char* name, const QString& text, const QString& tip) {
    auto* box = new QCheckBox(text);
    box->setObjectName(name);
    box->setToolTip(tip);
    return box;
}

/// "cuda:0" -> "CUDA:0"
QString deviceText(const QString& device) {
    return device.toUpper();
}

QStringList devicesOf(const nlohmann::json& hello) {
    QStringList devices;
    const auto found = hello.find("devices");
    if (found != hello.end() && found->is_array())
        for (const auto& device : *found)
            if (device.is_string())
                devices << QString::fromStdString(device.get<std::string>());
    return devices.isEmpty() ? QStringList{kCpuDevice} : devices;
}

} // namespace

Result<BenchLoad> wholeLoad(const MeasureChoice& choice) {
    BenchLoad load = choice.request.load;
    if (choice.traceFile.isEmpty())
        return load;
    auto trace = readBenchTrace(choice.traceFile.toStdString());
    if (!trace)
        return trace.error();
    load.trace = std::move(*trace);
    return load;
}

MeasureForm::MeasureForm(QWidget* parent) : QWidget(parent), m_rows(new QFormLayout(this)) {
    setObjectName("measureForm");
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setVerticalSpacing(4); // a dock at the bottom is flat
    m_rows->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_rows->addRow(tr("&Worker:"), makeWorkerRow());
    qobject_cast<QLabel*>(m_rows->labelForField(m_worker->parentWidget()))->setBuddy(m_worker);
    makeDeviceRow();
    m_load = new LoadRows(*m_rows);
    makeSwitches();
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
    connect(m_worker, &QComboBox::activated, this, &MeasureForm::chooseWorker);
    connect(m_worker->lineEdit(), &QLineEdit::editingFinished, this, &MeasureForm::chooseWorker);
    m_ask = new QPushButton(tr("&Ask"));
    m_ask->setObjectName("askWorker");
    m_ask->setAccessibleName(tr("Ask the worker what it is"));
    m_ask->setToolTip(tr("Starts the worker and shows its devices, threads and versions."));
    connect(m_ask, &QPushButton::clicked, this, &MeasureForm::askRequested);
    layout->addWidget(m_worker, 1);
    layout->addWidget(m_ask);
    return row;
}

void MeasureForm::makeDeviceRow() {
    m_device = new QComboBox;
    m_device->setObjectName("device");
    m_device->setAccessibleName(tr("Device of the worker"));
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_device, 1);
    auto* label = new QLabel(tr("wei&ghts:"));
    layout->addWidget(label);
    layout->addWidget(makeWeights(), 1);
    label->setBuddy(m_weights);
    m_rows->addRow(tr("&Device:"), row);
    qobject_cast<QLabel*>(m_rows->labelForField(row))->setBuddy(m_device);
    m_about = new QLabel;
    m_about->setObjectName("aboutWorker");
    m_about->setWordWrap(true);
    m_about->setForegroundRole(QPalette::PlaceholderText);
    m_about->hide();
    m_rows->addRow(m_about);
    showUnknownDevices();
}

QWidget* MeasureForm::makeWeights() {
    m_weights = new QComboBox;
    m_weights->setObjectName("weights");
    m_weights->setAccessibleName(tr("What products keep their weights in"));
    m_weights->setToolTip(tr(
        "For every program but transformers, the search for the guilty site, and “Verify”, which then also "
        "says what the fewer bits cost: int8 has a scale per row, int4 one per 32 weights."));
    for (const char* format : kWeightFormats)
        m_weights->addItem(format == std::string_view(kStoredWeights) ? tr("as stored") : QString(format),
                           QString(format));
    connect(m_weights, &QComboBox::activated, this,
            [this] { Q_EMIT weightsChosen(m_weights->currentData().toString()); });
    return m_weights;
}

void MeasureForm::setWeights(const QString& format) {
    m_weights->setCurrentIndex(std::max(0, m_weights->findData(format)));
}

void MeasureForm::makeSwitches() {
    m_native = checkBox("native", tr("Also hand-writte&n code"),
                        tr("Measures plain C++ for the model over the same kernels too, where there is some: "
                           "what the rewritten model is worth against it."));
    m_native->setChecked(true);
    m_eager =
        checkBox("eager", tr("Also transformers"),
                 tr("Measures the model as transformers runs it too, on this computer; loads the weights "
                    "once more."));
    m_profile = checkBox("profile", tr("Also time by &kind of operator"),
                         tr("Once more at the end, with clocks at kernels and operators."));
    m_profile->setChecked(true);
    m_leaveOneOut = checkBox("leaveOneOut", tr("Also witho&ut each pattern"),
                             tr("Switches one pattern off at a time: what each one is worth."));
    for (QCheckBox* box : {m_native, m_eager, m_profile, m_leaveOneOut})
        m_rows->addRow(box);
}

QString MeasureForm::workerCommand() const {
    const QString text = m_worker->currentText().trimmed();
    return text == m_worker->itemText(0) ? QString() : text;
}

void MeasureForm::chooseWorker() {
    if (workerCommand() != m_askedWorker)
        showUnknownDevices();
    Q_EMIT workerChosen(workerCommand());
}

void MeasureForm::setWorkerCommand(const QString& command) {
    if (command == workerCommand())
        return;
    m_worker->setCurrentText(command.isEmpty() ? m_worker->itemText(0) : command);
    if (command != m_askedWorker)
        showUnknownDevices();
}

MeasureChoice MeasureForm::choice() const {
    const QString device = m_device->currentData().toString();
    MeasureChoice choice{workerCommand(), {}, m_load->traceFile()};
    choice.request.load = m_load->load();
    choice.request.leaveOneOut = m_leaveOneOut->isChecked();
    choice.request.device = device.isEmpty() ? kCpuDevice : device.toStdString();
    choice.request.native = m_native->isChecked() && choice.request.device == kCpuDevice; // it has no other
    choice.request.eager = m_eager->isChecked();
    choice.request.profile = m_profile->isChecked();
    return choice;
}

QString MeasureForm::fault() const {
    return m_load->fault();
}

void MeasureForm::setEntriesEnabled(bool enabled) {
    for (QWidget* entry : std::initializer_list<QWidget*>{m_worker, m_ask, m_device, m_weights, m_native,
                                                          m_eager, m_profile, m_leaveOneOut})
        entry->setEnabled(enabled);
    m_load->setEnabled(enabled);
}

/// A choice that is seen, and says why it cannot be taken.
void MeasureForm::addAbsentDevice(const QString& text, const QString& why) {
    m_device->addItem(text);
    const int row = m_device->count() - 1;
    m_device->setItemData(row, why, Qt::ToolTipRole);
    if (auto* items = qobject_cast<QStandardItemModel*>(m_device->model()))
        items->item(row)->setEnabled(false);
}

void MeasureForm::showUnknownDevices() {
    m_askedWorker = QString(); // null: nobody was asked
    m_device->clear();
    m_device->addItem(deviceText(kCpuDevice), kCpuDevice);
    const QString why = tr("What the worker has beside a CPU is known once it was asked: press “Ask”.");
    addAbsentDevice(tr("CUDA: ask the worker"), why);
    m_device->setToolTip(tr("Where the programs run.") + " " + why);
    m_about->hide();
}

void MeasureForm::showWorker(const nlohmann::json& hello) {
    const auto text = [&](const char* key) {
        const auto found = hello.find(key);
        return found == hello.end()
                   ? QString()
                   : QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump());
    };
    m_askedWorker = workerCommand();
    m_about->setText(tr("%1 threads, %2, PyTorch %3").arg(text("threads"), text("isa"), text("torch")));
    m_about->show();
    const QString chosen = m_device->currentData().toString();
    const QStringList devices = devicesOf(hello);
    m_device->clear();
    for (const QString& device : devices)
        m_device->addItem(deviceText(device), device);
    const bool hasCuda = std::any_of(devices.begin(), devices.end(),
                                     [](const QString& device) { return device.startsWith("cuda"); });
    QString tip = tr("Where the programs run. The worker says that it has: %1.").arg(devices.join(", "));
    if (!hasCuda) {
        tip += " " + tr("A worker on a machine with a GPU, built with CUDA, offers CUDA here.");
        addAbsentDevice(tr("CUDA: the worker has none"), tip);
    }
    m_device->setToolTip(tip);
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
    for (const QCheckBox* box : {m_native, m_eager, m_profile, m_leaveOneOut})
        settings.setValue(box->objectName(), box->isChecked());
    m_load->saveState(settings);
}

void MeasureForm::restoreState(const QSettings& settings) {
    m_worker->addItems(settings.value("workers").toStringList());
    if (const QString worker = settings.value("worker").toString(); !worker.isEmpty())
        setWorkerCommand(worker);
    for (QCheckBox* box : {m_native, m_eager, m_profile, m_leaveOneOut})
        box->setChecked(settings.value(box->objectName(), box->isChecked()).toBool());
    m_load->restoreState(settings);
}

} // namespace workbench::gui
