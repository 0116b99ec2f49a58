#include "app/gui/measure/load_rows.h"

#include <QtWidgets/QComboBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPlainTextEdit>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QToolButton>

#include <algorithm>
#include <tuple>

namespace workbench::gui {
namespace {

enum PromptKind { madeUp, texts };

QSpinBox* spinBox(const char* name, const QString& accessible, int most, int value) {
    auto* box = new QSpinBox;
    box->setObjectName(name);
    box->setAccessibleName(accessible);
    box->setRange(1, most);
    box->setValue(value);
    box->setGroupSeparatorShown(true);
    return box;
}

/// Side by side, of the same height as a row of one.
QWidget* rowOf(std::initializer_list<QWidget*> parts) {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    for (QWidget* part : parts)
        layout->addWidget(part, qobject_cast<QSpinBox*>(part) ? 1 : 0);
    return row;
}

/// A file of another machine may ask for more than a box can hold.
int boxed(std::int64_t value, const QSpinBox* box) {
    return static_cast<int>(std::clamp<std::int64_t>(value, box->minimum(), box->maximum()));
}

} // namespace

LoadRows::LoadRows(QFormLayout& rows) : QObject(rows.parent()), m_rows(rows), m_kind(new QComboBox) {
    m_kind->setObjectName("load");
    m_kind->setAccessibleName(tr("What each program has to do"));
    const std::tuple<LoadKind, QString, QString> kinds[] = {
        {LoadKind::single, tr("Single answer"), tr("One request; speed of prompt and answer together.")},
        {LoadKind::decode, tr("Decode: long answer"),
         tr("A short prompt, a long answer; speed of the later tokens.")},
        {LoadKind::prefill, tr("Prefill: long prompt"),
         tr("A long prompt and its next token; speed of the prompt.")},
        {LoadKind::mixed, tr("Mixed: several at once"),
         tr("Requests side by side; new tokens of all of them.")},
        {LoadKind::trace, tr("Trace: requests of a file"),
         tr("Requests that arrive one after the other, as a file says.")}};
    for (const auto& [kind, text, tip] : kinds) {
        m_kind->addItem(text, static_cast<int>(kind));
        m_kind->setItemData(m_kind->count() - 1, tip, Qt::ToolTipRole);
    }
    m_kind->setToolTip(tr("The same loads as “workbench bench --load”; each has its own sizes."));
    m_rows.addRow(tr("&Load:"), m_kind);
    m_traceRow = makeTraceRow();
    m_rows.addRow(tr("F&ile:"), m_traceRow);
    qobject_cast<QLabel*>(m_rows.labelForField(m_traceRow))->setBuddy(m_trace);
    makePromptRows();
    makeCountRows();
    connect(m_kind, &QComboBox::currentIndexChanged, this, &LoadRows::kindChosen);
    connect(m_promptKind, &QComboBox::currentIndexChanged, this, &LoadRows::showRows);
    showRows();
}

QWidget* LoadRows::makeTraceRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_trace = new QLineEdit;
    m_trace->setObjectName("traceFile");
    m_trace->setAccessibleName(tr("File of requests"));
    m_trace->setToolTip(
        tr("One request a line: {\"arrival_s\": 0.5, \"prompt_tokens\": 64, \"new_tokens\": 32}"));
    m_trace->setPlaceholderText(tr("requests.jsonl"));
    auto* choose = new QToolButton;
    choose->setObjectName("chooseTrace");
    choose->setText("…");
    choose->setAccessibleName(tr("Choose the file of requests"));
    choose->setToolTip(tr("Choose the file of requests"));
    connect(choose, &QToolButton::clicked, this, &LoadRows::chooseTrace);
    layout->addWidget(m_trace, 1);
    layout->addWidget(choose);
    return row;
}

void LoadRows::makePromptRows() {
    m_promptKind = new QComboBox;
    m_promptKind->setObjectName("promptKind");
    m_promptKind->setAccessibleName(tr("Kind of prompt"));
    m_promptKind->addItems({tr("Made-up tokens"), tr("Texts, one a line")});
    m_rows.addRow(tr("&Prompt:"), m_promptKind);
    m_prompts = new QPlainTextEdit(tr("Explain in a few sentences why the sky is blue.\n"
                                      "Write a short poem about the sea.\n"
                                      "What is the difference between a list and a tuple?"));
    m_prompts->setObjectName("prompts");
    m_prompts->setAccessibleName(tr("Prompts, one a line; the rounds take them in turn"));
    m_prompts->setTabChangesFocus(true);
    m_prompts->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_prompts->setFixedHeight(6 * m_prompts->fontMetrics().lineSpacing());
    m_rows.addRow(m_prompts);
}

void LoadRows::makeCountRows() {
    m_promptTokens = spinBox("promptTokens", tr("Prompt tokens"), 1 << 20, 64);
    m_promptTokens->setToolTip(tr("Tokens of each prompt"));
    m_newTokens = spinBox("newTokens", tr("New tokens"), 1 << 20, 32);
    m_newTokens->setToolTip(tr("New tokens of each request"));
    m_arrow = new QLabel(QStringLiteral("→"));
    m_tokensRow = rowOf({m_promptTokens, m_arrow, m_newTokens});
    m_rows.addRow(tr("&Tokens:"), m_tokensRow);
    qobject_cast<QLabel*>(m_rows.labelForField(m_tokensRow))->setBuddy(m_promptTokens);
    m_concurrency = spinBox("concurrency", tr("Requests at once"), 1 << 16, 1);
    m_concurrency->setToolTip(tr("So many alike requests side by side."));
    m_rounds = spinBox("rounds", tr("Rounds of each program"), 10000, 6);
    m_rounds->setToolTip(tr("Before and after run in turn this often. Six rounds give 95 % confidence."));
    auto* row = rowOf({m_rounds, m_concurrencyLabel = new QLabel(tr("at on&ce:")), m_concurrency});
    m_concurrencyLabel->setBuddy(m_concurrency);
    m_rows.addRow(tr("&Rounds:"), row);
    qobject_cast<QLabel*>(m_rows.labelForField(row))->setBuddy(m_rounds);
}

LoadKind LoadRows::kind() const {
    return static_cast<LoadKind>(m_kind->currentData().toInt());
}

bool LoadRows::takesTexts() const {
    return kind() != LoadKind::trace && m_promptKind->currentIndex() == texts;
}

/// A load's own sizes, as on the command line.
void LoadRows::kindChosen() {
    if (kind() != LoadKind::trace) {
        const BenchLoad load = loadOf(kind());
        m_promptTokens->setValue(boxed(load.promptTokens, m_promptTokens));
        m_newTokens->setValue(boxed(load.newTokens, m_newTokens));
        m_concurrency->setValue(boxed(load.concurrency, m_concurrency));
    }
    showRows();
}

void LoadRows::showRows() {
    const bool isTrace = kind() == LoadKind::trace;
    m_rows.setRowVisible(m_traceRow, isTrace);
    m_rows.setRowVisible(m_promptKind, !isTrace);
    m_rows.setRowVisible(m_tokensRow, !isTrace);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_promptTokens, m_arrow})
        widget->setVisible(!takesTexts());
    m_rows.setRowVisible(m_prompts, takesTexts());
    for (QWidget* widget : std::initializer_list<QWidget*>{m_concurrencyLabel, m_concurrency})
        widget->setVisible(!isTrace && !takesTexts()); // of texts there is one a round
}

void LoadRows::chooseTrace() {
    const QString file =
        QFileDialog::getOpenFileName(m_trace->window(), tr("Requests of a trace"), m_trace->text(),
                                     tr("JSON lines (*.jsonl *.json *.txt);;All files (*)"));
    if (!file.isEmpty())
        m_trace->setText(file);
}

std::vector<std::string> LoadRows::prompts() const {
    std::vector<std::string> all;
    if (takesTexts())
        for (const QString& line : m_prompts->toPlainText().split('\n'))
            if (!line.trimmed().isEmpty())
                all.push_back(line.trimmed().toStdString());
    return all;
}

BenchLoad LoadRows::load() const {
    BenchLoad load{m_promptTokens->value(), m_newTokens->value(), m_rounds->value(), prompts(), kind()};
    load.concurrency = takesTexts() || kind() == LoadKind::trace ? 1 : m_concurrency->value();
    return load;
}

QString LoadRows::traceFile() const {
    return kind() == LoadKind::trace ? m_trace->text().trimmed() : QString();
}

QString LoadRows::fault() const {
    if (kind() == LoadKind::trace && traceFile().isEmpty())
        return tr("There is no file of requests: choose one, or take another load.");
    if (takesTexts() && prompts().empty())
        return tr("There is no prompt: write one a line, or measure with made-up tokens.");
    return {};
}

QList<QWidget*> LoadRows::entries() const {
    return {m_kind,    m_traceRow,  m_promptKind,  m_promptTokens,
            m_prompts, m_newTokens, m_concurrency, m_rounds};
}

void LoadRows::setEnabled(bool enabled) {
    for (QWidget* entry : entries())
        entry->setEnabled(enabled);
}

void LoadRows::saveState(QSettings& settings) const {
    const std::string_view name = nameOf(kind());
    settings.setValue("load", QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
    settings.setValue("traceFile", m_trace->text());
    settings.setValue("promptKind", m_promptKind->currentIndex());
    settings.setValue("promptTokens", m_promptTokens->value());
    settings.setValue("prompts", m_prompts->toPlainText());
    settings.setValue("newTokens", m_newTokens->value());
    settings.setValue("concurrency", m_concurrency->value());
    settings.setValue("rounds", m_rounds->value());
}

void LoadRows::restoreState(const QSettings& settings) {
    const auto kind = loadKindFromName(settings.value("load").toString().toStdString());
    m_kind->setCurrentIndex(m_kind->findData(static_cast<int>(kind.value_or(LoadKind::single))));
    m_trace->setText(settings.value("traceFile").toString());
    m_promptKind->setCurrentIndex(settings.value("promptKind", 0).toInt() == texts ? texts : madeUp);
    for (QSpinBox* box : {m_promptTokens, m_newTokens, m_concurrency, m_rounds})
        box->setValue(settings.value(box->objectName(), box->value()).toInt());
    m_prompts->setPlainText(settings.value("prompts", m_prompts->toPlainText()).toString());
    showRows();
}

} // namespace workbench::gui
