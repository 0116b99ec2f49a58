#include "app/gui/measure/bisect_view.h"

#include "app/gui/measure/step_model.h"

#include <QtCore/QRegularExpression>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableView>

namespace workbench::gui {
namespace {

using By = SessionBisectRequest::By;

/// The sentence with every guilty site as a link.
QString linkedText(const SessionBisect& found, By by) {
    QString text = QString::fromStdString(describe(found, by)).toHtmlEscaped();
    for (const auto& guilty : found.result.guilty)
        for (const std::size_t index : guilty) {
            const QString site = QString::fromStdString(found.sites[index]).toHtmlEscaped();
            // The end of the name must not be the middle of a longer one.
            const QRegularExpression whole("(^|[ >])" + QRegularExpression::escape(site) + "(?=$|[ ,;<])");
            text.replace(whole, "\\1<a href=\"" + site + "\">" + site + "</a>");
        }
    return text;
}

QTableView* stepTable(StepModel* model) {
    auto* table = new QTableView;
    table->setObjectName("bisectSteps");
    table->setAccessibleName(BisectView::tr("Tries of the search"));
    table->setModel(model);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setFrameShape(QFrame::NoFrame);
    table->setWordWrap(false);
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(StepModel::applied, QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(StepModel::found, QHeaderView::Stretch);
    return table;
}

} // namespace

BisectView::BisectView(QWidget* parent) : QWidget(parent) {
    setObjectName("bisect");
    auto* layout = new QVBoxLayout(this);
    auto* row = new QHBoxLayout;
    m_by = new QComboBox;
    m_by->setObjectName("bisectBy");
    m_by->setAccessibleName(tr("What goes wrong"));
    m_by->addItem(tr("Numbers are wrong"), static_cast<int>(By::numbers));
    m_by->addItem(tr("It became slower"), static_cast<int>(By::speed));
    m_start = new QPushButton(tr("Find the guilty site"));
    m_start->setObjectName("startBisect");
    connect(m_start, &QPushButton::clicked, this,
            [this] { Q_EMIT startRequested(static_cast<By>(m_by->currentData().toInt())); });
    row->addWidget(m_by);
    row->addWidget(m_start);
    row->addStretch(1);
    layout->addLayout(row);
    m_sentence = new QLabel;
    m_sentence->setObjectName("bisectSentence");
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::TextBrowserInteraction);
    connect(m_sentence, &QLabel::linkActivated, this, &BisectView::siteActivated);
    layout->addWidget(m_sentence);
    m_steps = new StepModel(this);
    layout->addWidget(stepTable(m_steps), 1);
    stop(tr("Switches the applied sites off by halves until the one is named, or the pair, that makes the "
            "numbers wrong "
            "or the model slower."));
}

void BisectView::begin(std::vector<std::string> sites) {
    m_sentence->setText(tr("Searching %n applied sites …", nullptr, static_cast<int>(sites.size())));
    m_steps->start(std::move(sites));
}

void BisectView::addSteps(const std::vector<BisectStep>& steps) {
    for (const BisectStep& step : steps)
        m_steps->add(step);
}

void BisectView::finish(const SessionBisect& found, By by) {
    m_sentence->setText(linkedText(found, by));
}

void BisectView::stop(const QString& words) {
    m_sentence->setText(words.toHtmlEscaped());
}

void BisectView::setStartEnabled(bool enabled) {
    m_start->setEnabled(enabled);
}

} // namespace workbench::gui
