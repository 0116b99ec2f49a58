#include "app/gui/document/autosaver.h"

namespace workbench::gui {
namespace {

using namespace std::chrono_literals;
constexpr auto kMoment = 1s;

} // namespace

struct Autosaver::Slot {
    std::optional<AutosaveSlot> held;

    Status write(const std::filesystem::path& cache, Work work) {
        auto plan = work.session.plan();
        if (!plan)
            return plan.error();
        work.about.plan = std::move(plan).value();
        if (!held) {
            auto made = AutosaveSlot::create(cache);
            if (!made)
                return made.error();
            held.emplace(std::move(made).value());
        }
        return held->write(work.about);
    }
};

Autosaver::Autosaver(Jobs& jobs, std::filesystem::path cache, QObject* parent)
    : QObject(parent), m_jobs(jobs), m_cache(std::move(cache)), m_slot(std::make_shared<Slot>()) {
    m_timer.setSingleShot(true);
    m_timer.setInterval(kMoment);
    connect(&m_timer, &QTimer::timeout, this, &Autosaver::write);
}

void Autosaver::keep(std::function<Work()> work) {
    m_work = std::move(work);
    m_wanted = true;
    if (!m_timer.isActive())
        m_timer.start();
}

void Autosaver::forget() {
    m_timer.stop();
    m_work = {};
    m_wanted = false;
    if (!m_writing && m_slot->held)
        m_slot->held->clear();
}

void Autosaver::write() {
    if (!m_work || m_writing)
        return;
    m_writing = true;
    m_jobs.start(this, [this, slot = m_slot, cache = m_cache, work = m_work()](const Job&) -> Closure {
        const Status written = guarded<Ok>([&] { return slot->write(cache, work); });
        return [this, written] { ended(written); };
    });
    m_work = {};
}

void Autosaver::ended(const Status& written) {
    m_writing = false;
    if (!written && !std::exchange(m_told, true))
        Q_EMIT failed(written.error());
    if (!m_wanted)
        forget();
    else if (m_work)
        m_timer.start();
}

} // namespace workbench::gui
