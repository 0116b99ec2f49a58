#include "app/gui/document/file_watch.h"

namespace workbench::gui {
namespace {

using namespace std::chrono_literals;
constexpr auto kPause = 2s;

} // namespace

FileWatch::FileWatch(Jobs& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
    m_timer.setTimerType(Qt::VeryCoarseTimer);
    m_timer.setInterval(kPause);
    connect(&m_timer, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watchModel(std::shared_ptr<const TracedModel> model) {
    m_watched.model = std::move(model);
    m_watched.stamps.reset();
    m_toldModel = false;
    ++m_turn;
    m_timer.start();
    look();
}

void FileWatch::watchPlan(const QString& file, const FileContent& known) {
    m_watched.plan = file;
    m_watched.planContent = known;
    m_toldPlan = false;
    ++m_turn;
}

FileWatch::Seen FileWatch::seen(const Watched& watched) {
    Seen now{stampsOf(*watched.model), false};
    if (!watched.plan.isEmpty()) {
        const auto content = contentOf(watched.plan.toStdString());
        now.planChanged = !content || *content != watched.planContent;
    }
    return now;
}

void FileWatch::look() {
    if (!m_watched.model || std::exchange(m_looking, true))
        return;
    m_jobs.start(this, [this, turn = m_turn, watched = m_watched](const Job&) -> Closure {
        const auto now = guarded<Seen>([&] { return seen(watched); });
        return [this, turn, now] {
            m_looking = false;
            if (turn != m_turn)
                look();
            else if (now) // else the next look tells
                take(*now);
        };
    });
}

void FileWatch::take(const Seen& now) {
    if (!m_watched.stamps)
        m_watched.stamps = now.stamps;
    if (!changedFiles(*m_watched.stamps, now.stamps).empty() && !std::exchange(m_toldModel, true))
        Q_EMIT modelReplaced();
    if (now.planChanged && !std::exchange(m_toldPlan, true))
        Q_EMIT planReplaced();
}

} // namespace workbench::gui
