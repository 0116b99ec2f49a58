#include "app/gui/measure/results_view.h"

#include "app/gui/measure/chart_style.h"
#include "app/gui/measure/pattern_bars.h"
#include "app/gui/measure/result_model.h"
#include "app/gui/measure/speed_curves.h"

#include <QtCore/QFileInfo>
#include <QtCore/QLocale>
#include <QtGui/QPainter>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHBoxLayout>
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
class FiguresTable : public QTableView {
public:
    using QTableView::QTableView;

protected:
    void paintEvent(QPaintEvent* event) override {
        QTableView::paintEvent(event);
        if (!model() || model()->rowCount() > 0)
            return;
        QPainter painter(viewport());
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect().adjusted(12, 8, -12, -8), Qt::AlignCenter | Qt::TextWordWrap,
                         ResultsView::tr("Speeds and latencies, before and after, come here with the first "
                                         "round. A measurement made elsewhere can be opened."));
    }
};

QString ratioText(double ratio) {
    return QLocale().toString(ratio, 'f', 2);
}

/// "Decode is 1.31 times as fast (1.28 to 1.35)".
QString headlineText(const Comparison& comparison, const QString& what) {
    if (std::isnan(comparison.ratio))
        return {};
    const QString range = ResultsView::tr("(%1 to %2)")
                              .arg(ratioText(comparison.interval.low), ratioText(comparison.interval.high));
    switch (comparison.verdict) {
    case SpeedVerdict::faster:
        return ResultsView::tr("%1: %2 times as fast %3").arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::slower:
        return ResultsView::tr("%1: slower, %2 times the speed %3")
            .arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::withinSpread:
        return ResultsView::tr("%1: no difference beyond the spread, %2 times %3")
            .arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::tooFewRounds:
        return ResultsView::tr("%1: %2 times so far; %n rounds give a verdict", nullptr,
                               static_cast<int>(kFewestRounds))
            .arg(what, ratioText(comparison.ratio));
    }
    return {};
}

QString machineText(const nlohmann::json& machine) {
    QStringList parts;
    const auto add = [&](const char* key, const QString& format) {
        const auto found = machine.find(key);
        if (found != machine.end())
            parts << format.arg(
                QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump()));
    };
    add("threads", ResultsView::tr("%1 threads"));
    add("isa", "%1");
    add("torch", ResultsView::tr("PyTorch %1"));
    return parts.join(", ");
}

QString aboutText(const BenchReport& report, const QString& source) {
    const BenchLoad& load = report.load;
    QStringList parts;
    parts << source;
    parts << QString::fromStdString(report.model + ", " + report.dtype) +
                 (report.randomWeights ? ResultsView::tr(", random weights") : QString());
    parts << (load.prompts.empty()
                  ? ResultsView::tr("%n prompt tokens", nullptr, static_cast<int>(load.promptTokens))
                  : ResultsView::tr("%n prompts", nullptr, static_cast<int>(load.prompts.size())));
    parts << ResultsView::tr("%n new tokens", nullptr, static_cast<int>(load.newTokens));
    parts << ResultsView::tr("%n rounds in turn", nullptr, static_cast<int>(load.rounds));
    parts << machineText(report.machine);
    parts.removeAll(QString());
    return parts.join(" · ");
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
    auto* layout = new QHBoxLayout(top);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    m_headline = new QLabel;
    m_headline->setObjectName("headline");
    m_headline->setWordWrap(true);
    QFont large = m_headline->font();
    large.setPointSizeF(1.25 * large.pointSizeF());
    large.setBold(true);
    m_headline->setFont(large);
    m_about = new QLabel;
    m_about->setObjectName("aboutMeasurement");
    m_about->setWordWrap(true);
    m_about->setForegroundRole(QPalette::PlaceholderText);
    words->addWidget(m_headline);
    words->addWidget(m_about);
    m_quantity = new QComboBox;
    m_quantity->setObjectName("quantity");
    m_quantity->setAccessibleName(tr("What the curves show"));
    m_quantity->addItem(tr("Decode"), static_cast<int>(Quantity::decode));
    m_quantity->addItem(tr("Prompt"), static_cast<int>(Quantity::prefill));
    m_quantity->addItem(tr("Whole answer"), static_cast<int>(Quantity::output));
    connect(m_quantity, &QComboBox::currentIndexChanged, this, &ResultsView::showAll);
    layout->addLayout(words, 1);
    layout->addWidget(m_quantity, 0, Qt::AlignTop);
    return top;
}

void ResultsView::makeTabs() {
    m_tabs = new QTabWidget;
    m_tabs->setObjectName("measureTabs");
    m_tabs->setDocumentMode(true);
    m_tabs->setMinimumWidth(kNarrowest);
    m_model = new ResultModel(this);
    m_table = new FiguresTable;
    m_table->setObjectName("figures");
    m_table->setAccessibleName(tr("Speeds and latencies"));
    m_table->setModel(m_model);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setWordWrap(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_tabs->addTab(m_table, tr("Figures"));
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

void ResultsView::begin(const BenchLoad& load) {
    m_report.reset();
    m_load = load;
    m_source.clear();
    m_before = {};
    m_after = {};
    m_model->clear();
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
            m_before.add(pace, m_load.newTokens);
        else if (pace.program == kAfter)
            m_after.add(pace, m_load.newTokens);
    }
    if (!paces.empty())
        showCurves();
}

void ResultsView::showAll() {
    showHeadline();
    showCurves();
    showPatterns();
}

void ResultsView::showHeadline() {
    m_table->horizontalHeader()->setVisible(m_model->rowCount() > 0); // columns of nothing are no hint
    const bool known = m_report && !m_report->after.rounds.empty();
    m_headline->setVisible(known);
    m_about->setVisible(m_report.has_value());
    if (m_report)
        m_about->setText(aboutText(*m_report, m_source));
    if (!known)
        return;
    const Comparison comparison = compare(m_report->before, m_report->after, quantity());
    m_headline->setText(headlineText(comparison, m_quantity->currentText()));
    QPalette colours = palette();
    const ChartColours chart = chartColours(colours);
    if (comparison.verdict == SpeedVerdict::faster || comparison.verdict == SpeedVerdict::slower)
        colours.setColor(QPalette::WindowText,
                         comparison.verdict == SpeedVerdict::faster ? chart.faster : chart.slower);
    m_headline->setPalette(colours);
}

void ResultsView::showCurves() {
    SpeedSeries before{tr("before"), {}, {}};
    SpeedSeries after{tr("after"), {}, {}};
    if (m_report) {
        before.rounds = speeds(m_report->before, quantity());
        after.rounds = speeds(m_report->after, quantity());
    }
    if (quantity() == Quantity::decode) {
        before.live = m_before.points();
        after.live = m_after.points();
    }
    m_curves->setSeries(std::move(before), std::move(after), m_load.rounds);
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
