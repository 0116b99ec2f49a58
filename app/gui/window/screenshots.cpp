#include "app/gui/window/screenshots.h"

#include <QtCore/QDir>
#include <QtCore/QTimer>
#include <QtWidgets/QCheckBox>

namespace workbench::gui {
namespace {

using namespace std::chrono_literals;
constexpr QSize kSizes[] = {{1280, 800}, {2560, 1440}};
constexpr auto kPause = 150ms; // layouts and animations that follow a change
constexpr int kQuiet = 3;      // pauses in a row in which all was ready

} // namespace

Screenshots::Screenshots(MainWindow& window, const Locations& locations, Appearance& appearance,
                         const QString& folder)
    : QObject(&window), m_window(window), m_locations(locations), m_appearance(appearance), m_folder(folder) {
}

Screenshots::~Screenshots() = default;

void Screenshots::take(ModelTab* tab, std::function<void(std::optional<Error>)> done) {
    m_tab = tab;
    m_done = std::move(done);
    if (!QDir().mkpath(m_folder))
        return end(Error{ErrorCode::badInput, "the folder " + m_folder.toStdString() + " cannot be made",
                         m_folder.toStdString()});
    connect(&tab->document(), &Document::stateChanged, this, [this] {
        // Panels are made by whoever else hears of it: after them.
        QMetaObject::invokeMethod(this, &Screenshots::opened, Qt::QueuedConnection);
    });
    opened();
}

void Screenshots::opened() {
    const Document& document = m_tab->document();
    if (document.state() == Document::State::failed)
        return end(*document.error());
    if (document.state() != Document::State::ready || !m_tab->workspace() || !m_shots.empty())
        return;
    decideSomething();
    addPages();
    addDialogs();
    addPanels();
    addSearch();
    addOverlays();
    addRunningMeasurement(); // last: it takes the place of the one that is done
    addShots();
    proveAndMeasure([this] { next(); });
}

/// A window in the middle of its work tells more than a fresh one.
void Screenshots::decideSomething() {
    Document& document = m_tab->document();
    const std::vector<Site>& sites = document.analysis().sites;
    std::vector<std::size_t> applicable;
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (sites[i].verdict == SiteVerdict::applicable)
            applicable.push_back(i);
    if (applicable.empty())
        return;
    document.apply(applicable, Decision::apply, tr("apply everything"));
    document.apply({applicable.back()}, Decision::reject, tr("reject the last one"));
    document.setNote(applicable.back(), tr("slower with short prompts"));
}

/// So that columns, overlays and results have numbers.
void Screenshots::proveAndMeasure(std::function<void()> then) {
    const TracedModel& model = m_tab->document().session().model();
    if (!model.hasWeights || !model.runnable)
        return then();
    act("verifyAll");
    settle([this, then = std::move(then)] {
        find<QCheckBox>("leaveOneOut")->setChecked(true);
        act("startMeasuring");
        settle(then);
    });
}

/// The first site of a pattern, seen in the graph; without one the first of all.
void Screenshots::choose(const char* pattern) {
    const std::vector<Site>& sites = m_tab->document().analysis().sites;
    std::size_t chosen = 0;
    while (chosen < sites.size() &&
           (sites[chosen].pattern != pattern || sites[chosen].verdict != SiteVerdict::applicable))
        ++chosen;
    if (sites.empty())
        return;
    chosen = chosen == sites.size() ? 0 : chosen;
    m_tab->selection().selectSite(chosen, sites[chosen].module);
    m_tab->selection().reveal();
}

void Screenshots::addShots() {
    for (std::size_t i = 0; i < m_subjects.size(); ++i) {
        const std::vector<QSize> sizes = m_subjects[i].isWindow
                                             ? std::vector<QSize>(std::begin(kSizes), std::end(kSizes))
                                             : std::vector<QSize>{QSize()};
        for (const QSize& size : sizes)
            for (const bool isDark : {false, true})
                m_shots.push_back({i, size, isDark});
    }
}

void Screenshots::next() {
    if (m_at == m_shots.size())
        return end(std::nullopt);
    const Shot shot = m_shots[m_at++];
    const Subject& subject = m_subjects[shot.subject];
    if (m_appearance.isDark() != shot.isDark || m_appearance.choice() == Appearance::Choice::system)
        m_appearance.show(shot.isDark);
    if (shot.size.isValid())
        m_window.resize(shot.size); // its panels are laid out for it
    QWidget* widget = subject.show();
    if (shot.size.isValid())
        widget->resize(shot.size);
    const auto take = [this, shot, widget] {
        QString name = m_subjects[shot.subject].name;
        if (shot.size.isValid())
            name += QString("-%1x%2").arg(shot.size.width()).arg(shot.size.height());
        if (shoot(*widget, name + (shot.isDark ? "-dark.png" : "-light.png")))
            next();
    };
    settle(take, subject.isReady);
}

bool Screenshots::shoot(QWidget& widget, const QString& name) {
    const QString file = QDir(m_folder).filePath(name);
    if (widget.grab().save(file)) {
        m_written += file;
        return true;
    }
    end(Error{ErrorCode::badInput, "the picture " + file.toStdString() + " cannot be written",
              file.toStdString()});
    return false;
}

/// Goes on when it has been ready for a while.
void Screenshots::settle(std::function<void()> then, std::function<bool()> isReady) {
    if (!isReady)
        isReady = [this] { return !m_tab->document().working(); };
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, [timer, then = std::move(then), isReady, quiet = 0]() mutable {
        quiet = isReady() ? quiet + 1 : 0;
        if (quiet < kQuiet)
            return;
        timer->deleteLater();
        timer->stop();
        then();
    });
    timer->start(kPause);
}

void Screenshots::end(std::optional<Error> error) {
    m_dialog.reset();
    m_empty.reset();
    m_failed.reset();
    m_tab->document().shutDown(); // what was decided for the pictures is nobody's unsaved work
    if (auto done = std::exchange(m_done, {}))
        done(std::move(error));
}

} // namespace workbench::gui
