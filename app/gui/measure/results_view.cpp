#include "app/gui/measure/results_view.h"

#include "app/gui/document/elided_label.h"
#include "app/gui/measure/chart_style.h"
#include "app/gui/measure/operator_times.h"
#include "app/gui/measure/pattern_bars.h"
#include "app/gui/measure/report_text.h"
#include "app/gui/measure/result_model.h"
#include "app/gui/measure/speed_curves.h"

#include <QtCore/QFileInfo>
#include <QtCore/QLocale>
#include <QtGui/QPainter>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QGridLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QScrollArea>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QTableView>

#include <cmath>

namespace workbench::gui {
namespace {

constexpr double kFlat = 2.2;   ///< width over height of a dock at the bottom
constexpr int kNarrowest = 190; ///< of the tabs: what they hold scrolls, the docks beside need the room

/// Says what will stand there while nothing does.
class HintedTable : public QTableView {
public:
    explicit HintedTable(const QString& hint) : m_hint(hint) {}

protected:
    void paintEvent(QPaintEvent* event) override {
        QTableView::paintEvent(event);
        if (!model() || model()->rowCount() > 0)
            return;
        QPainter painter(viewport());
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect().adjusted(12, 8, -12, -8), Qt::AlignCenter | Qt::TextWordWrap,
                         m_hint);
    }

private:
    QString m_hint;
};

/// Rows that are read, not chosen.
QTableView* prepared(QTableView* table, const char* name, const QString& accessible) {
    table->setObjectName(name);
    table->setAccessibleName(accessible);
    table->setSelectionMode(QAbstractItemView::NoSelection);
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setWordWrap(false);
    table->setFrameShape(QFrame::NoFrame);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setStretchLastSection(true);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    return table;
}

ElidedLabel* mutedLabel(const char* name) {
    auto* label = new ElidedLabel(Qt::ElideRight);
    label->setObjectName(name);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

} // namespace

ResultsView::ResultsView(QWidget* parent) : QWidget(parent) {
    setObjectName("measureResults");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(makeTop());
    m_curves = new SpeedCurves;
    m_curves->setHint(
        tr("Start measures tokens per second of the model as it is and as you decided, in turn, on the "
           "same tokens. Stop works at once."));
    makeTabs();
    m_splitter = new QSplitter(Qt::Horizontal); // the one that needs less height, until there is some
    m_splitter->setObjectName("resultsSplitter");
    m_splitter->addWidget(m_curves);
    m_splitter->addWidget(m_tabs);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setChildrenCollapsible(false);
    layout->addWidget(m_splitter, 1);
    showAll();
}

void ResultsView::resizeEvent(QResizeEvent*) {
    const bool isFlat = width() > kFlat * height();
    if (isFlat == (m_splitter->orientation() == Qt::Horizontal))
        return;
    m_splitter->setOrientation(isFlat ? Qt::Horizontal : Qt::Vertical);
    m_splitter->setSizes(isFlat ? QList<int>{2 * width() / 5, 3 * width() / 5}
                                : QList<int>{3 * height() / 5, 2 * height() / 5});
}

QWidget* ResultsView::makeTop() {
    auto* top = new QWidget;
    auto* layout = new QGridLayout(top);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setVerticalSpacing(2);
    layout->setColumnStretch(0, 1);
    m_headline = new QLabel;
    m_headline->setObjectName("headline");
    m_headline->setWordWrap(true);
    QFont large = m_headline->font();
    large.setPointSizeF(1.25 * large.pointSizeF());
    large.setBold(true);
    m_headline->setFont(large);
    m_about = mutedLabel("aboutMeasurement");
    m_details = mutedLabel("measurementDetails");
    m_quantity = new QComboBox;
    m_quantity->setObjectName("quantity");
    m_quantity->setAccessibleName(tr("What the curves show"));
    m_quantity->addItem(tr("Decode"), static_cast<int>(Quantity::decode));
    m_quantity->addItem(tr("Prompt"), static_cast<int>(Quantity::prefill));
    m_quantity->addItem(tr("Whole answer"), static_cast<int>(Quantity::output));
    connect(m_quantity, &QComboBox::currentIndexChanged, this, &ResultsView::showAll);
    layout->addWidget(m_headline, 0, 0);
    layout->addWidget(m_quantity, 0, 1, Qt::AlignTop | Qt::AlignRight);
    layout->addWidget(m_about, 1, 0, 1, 2);
    layout->addWidget(m_details, 2, 0, 1, 2);
    return top;
}

void ResultsView::makeTabs() {
    m_tabs = new QTabWidget;
    m_tabs->setObjectName("measureTabs");
    m_tabs->setDocumentMode(true);
    m_tabs->setMinimumWidth(kNarrowest);
    m_model = new ResultModel(this);
    m_table = prepared(new HintedTable(tr("Speeds and latencies, before and after, come here with the first "
                                          "round. A measurement made elsewhere can be opened.")),
                       "figures", tr("Speeds and latencies"));
    m_table->setModel(m_model);
    m_tabs->addTab(m_table, tr("Figures"));
    m_times = new OperatorTimesModel(this);
    auto* times = prepared(
        new HintedTable(tr("Tick “Also time by kind of operator” before you start: where a step's time goes, "
                           "in milliseconds, comes here at the end.")),
        "operatorTimes", tr("Time of a step by kind of operator"));
    times->setModel(m_times);
    times->horizontalHeader()->setStretchLastSection(false);
    m_tabs->addTab(times, tr("Times"));
    m_bars = new PatternBars;
    m_bars->setHint(
        tr("Tick “Also without each pattern” before you start: each pattern is switched off at a time, and "
           "what it is worth stands here."));
    auto* scroll = new QScrollArea;
    scroll->setAccessibleName(tr("What each pattern is worth"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_bars);
    m_tabs->addTab(scroll, tr("Patterns"));
}

Quantity ResultsView::quantity() const {
    return static_cast<Quantity>(m_quantity->currentData().toInt());
}

/// The figure that the load is about; a single answer has several that count, the user's choice stays.
void ResultsView::chooseQuantity() {
    if (m_load.kind == LoadKind::single && m_load.newTokens > 1)
        return;
    const Quantity main = m_load.kind == LoadKind::single ? Quantity::prefill : mainQuantity(m_load);
    m_quantity->setCurrentIndex(m_quantity->findData(static_cast<int>(main)));
}

qint64 ResultsView::tokensOfRound() const {
    qint64 tokens = 0;
    for (const TraceRequest& request : m_load.trace)
        tokens += request.newTokens;
    return m_load.trace.empty() ? m_load.newTokens * m_load.concurrency : tokens;
}

void ResultsView::begin(const BenchLoad& load) {
    m_report.reset();
    m_load = load;
    m_source.clear();
    m_before = {};
    m_after = {};
    m_native = {};
    m_model->clear();
    chooseQuantity();
    showAll();
}

void ResultsView::setReport(const BenchReport& report) {
    m_report = report;
    m_load = report.load;
    m_model->setReport(report);
    showAll();
}

void ResultsView::setOpened(const BenchReport& report, const QString& file) {
    begin(report.load);
    m_source = QFileInfo(file).fileName();
    setReport(report);
}

void ResultsView::addPaces(const std::vector<BenchPace>& paces) {
    for (const BenchPace& pace : paces) {
        if (pace.program == kBefore)
            m_before.add(pace, tokensOfRound());
        else if (pace.program == kAfter)
            m_after.add(pace, tokensOfRound());
        else if (pace.program == kNative)
            m_native.add(pace, tokensOfRound());
    }
    if (!paces.empty())
        showCurves();
}

void ResultsView::showAll() {
    showHeadline();
    showCurves();
    showPatterns();
    showTimes();
}

void ResultsView::showHeadline() {
    m_table->horizontalHeader()->setVisible(m_model->rowCount() > 0); // columns of nothing are no hint
    const bool known = m_report && !m_report->after.rounds.empty();
    m_headline->setVisible(known);
    m_about->setVisible(m_report.has_value());
    if (m_report)
        m_about->say(ReportText::about(*m_report, m_source));
    const QString details = m_report ? ReportText::details(*m_report) : QString();
    m_details->say(details);
    m_details->setVisible(!details.isEmpty());
    if (!known)
        return;
    const Comparison comparison = compare(m_report->before, m_report->after, quantity());
    m_headline->setText(std::isnan(comparison.ratio)
                            ? tr("%1: the load has no such tokens").arg(m_quantity->currentText())
                            : ReportText::headline(comparison, m_quantity->currentText()));
    QPalette colours = palette();
    const ChartColours chart = chartColours(colours);
    if (comparison.verdict == SpeedVerdict::faster || comparison.verdict == SpeedVerdict::slower)
        colours.setColor(QPalette::WindowText,
                         comparison.verdict == SpeedVerdict::faster ? chart.faster : chart.slower);
    m_headline->setPalette(colours);
}

void ResultsView::showCurves() {
    using Program = SpeedSeries::Program;
    std::vector<SpeedSeries> series = {{Program::before, tr("before"), {}, {}},
                                       {Program::after, tr("after"), {}, {}}};
    if (m_report && m_report->native)
        series.push_back({Program::native, tr("hand-written"), speeds(*m_report->native, quantity()), {}});
    if (m_report) {
        series[0].rounds = speeds(m_report->before, quantity());
        series[1].rounds = speeds(m_report->after, quantity());
    }
    if (quantity() == Quantity::decode) {
        const LiveCurve* curves[] = {&m_before, &m_after, &m_native};
        for (std::size_t i = 0; i < series.size(); ++i)
            series[i].live = curves[i]->points();
    }
    if (m_report && m_report->eager) // its rounds are not watched while they run
        series.push_back({Program::eager, tr("transformers"), speeds(*m_report->eager, quantity()), {}});
    m_curves->setSeries(std::move(series), m_load.rounds);
}

void ResultsView::showTimes() {
    auto times = m_report ? operatorTimes(m_report->profile) : std::vector<OperatorTimes>();
    m_times->setTimes(std::move(times));
}

void ResultsView::showPatterns() {
    std::vector<PatternBar> bars;
    if (m_report)
        for (const PatternEffect& effect : m_report->patterns)
            bars.push_back({QString::fromStdString(effect.pattern), effect.sites,
                            effectOf(effect, *m_report, quantity())});
    m_bars->setBars(std::move(bars));
}

void ResultsView::saveState(QSettings& settings) const {
    settings.setValue("quantity", m_quantity->currentIndex());
    settings.setValue("results", m_splitter->saveState());
    settings.setValue("tab", m_tabs->currentIndex());
}

void ResultsView::restoreState(const QSettings& settings) {
    m_quantity->setCurrentIndex(settings.value("quantity", 0).toInt());
    m_splitter->restoreState(settings.value("results").toByteArray());
    m_tabs->setCurrentIndex(settings.value("tab", 0).toInt());
}

} // namespace workbench::gui
