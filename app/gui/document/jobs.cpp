#include "app/gui/document/jobs.h"

#include "app/gui/document/qt_text.h"

#include <QtCore/QMetaObject>

#include <algorithm>
#include <mutex>

namespace workbench::gui {
namespace {

/// Work that waits for a helper process must not keep a short look waiting.
constexpr int kThreads = 8;

} // namespace

struct Jobs::Running {
    std::shared_ptr<CancelToken> cancel = std::make_shared<CancelToken>();
    QPointer<QObject> receiver;
    Progress progress;

    std::mutex mutex; // of what follows
    QString stage;
    QString detail;
    bool told = true;
};

Jobs::Jobs(QObject* parent) : QObject(parent) {
    m_threads.setMaxThreadCount(kThreads);
}

void Jobs::cancelAll() {
    for (const auto& running : m_running)
        running->cancel->cancel();
}

Jobs::~Jobs() {
    cancelAll();
    m_threads.waitForDone();
}

JobHandle Jobs::start(QObject* receiver, Work work, Progress progress) {
    auto running = std::make_shared<Running>();
    running->receiver = receiver;
    running->progress = std::move(progress);
    m_running.push_back(running);
    // The latest word alone is carried over: a chatty helper does not flood the event loop.
    const auto tell = [running] {
        std::unique_lock lock(running->mutex);
        running->told = true;
        const QString stage = running->stage;
        const QString detail = running->detail;
        lock.unlock();
        if (running->receiver && running->progress)
            running->progress(stage, detail);
    };
    const auto note = [this, running, tell](std::string_view stage, std::string_view detail) {
        const std::lock_guard lock(running->mutex);
        running->stage = qt(stage);
        running->detail = qt(detail);
        if (std::exchange(running->told, false))
            QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
    };
    m_threads.start([this, running, work = std::move(work), note] {
        Closure closure = work(Job{running->cancel.get(), note});
        QMetaObject::invokeMethod(
            this, [this, running, closure = std::move(closure)] { finish(running, closure); },
            Qt::QueuedConnection);
    });
    return JobHandle(running->cancel);
}

void Jobs::finish(const std::shared_ptr<Running>& running, const Closure& closure) {
    m_running.erase(std::remove(m_running.begin(), m_running.end(), running), m_running.end());
    if (running->receiver && closure)
        closure();
    if (m_running.empty())
        Q_EMIT idle();
}

} // namespace workbench::gui
