#pragma once

#include "app/session/runtime.h"
#include "app/session/session.h"

#include <QtCore/QObject>
#include <QtCore/QPointer>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace workbench::gui {

/// What a thread leaves for the GUI thread to do.
using Closure = std::function<void()>;

/// Stops one piece of background work. Copies stand for the same one; any thread.
class JobHandle {
public:
    JobHandle() = default;
    explicit JobHandle(std::shared_ptr<CancelToken> cancel) : m_cancel(std::move(cancel)) {}
    void cancel() const {
        if (m_cancel)
            m_cancel->cancel();
    }
    bool valid() const { return m_cancel != nullptr; } ///< false: it was not started, another job runs

private:
    std::shared_ptr<CancelToken> m_cancel;
};

/// Threads of one document. Work gets values and gives values; its end is told in the GUI thread, unless the
/// receiver is gone by then. Destruction cancels all and waits.
class Jobs : public QObject {
    Q_OBJECT
public:
    explicit Jobs(QObject* parent = nullptr);
    ~Jobs() override;

    using Work = std::function<Closure(const Job&)>;
    using Progress = std::function<void(const QString& stage, const QString& detail)>;
    /// `progress` is called in the GUI thread, the latest word at most every few milliseconds.
    JobHandle start(QObject* receiver, Work work, Progress progress = {});
    bool running() const { return !m_running.empty(); }
    void cancelAll();

Q_SIGNALS:
    void idle(); ///< the last one ended

private:
    struct Running;
    void finish(const std::shared_ptr<Running>& running, const Closure& closure);

    QThreadPool m_threads;
    std::vector<std::shared_ptr<Running>> m_running;
};

/// Exceptions are no part of our own code: what libraries throw in a thread ends here.
template <class T, class Call>
Result<T> guarded(const Call& call) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return Error{
            ErrorCode::runtimeFailed, "there is not enough memory; close other models and try again", {}};
    } catch (const std::exception& failure) {
        return Error{ErrorCode::runtimeFailed, std::string("an unexpected failure: ") + failure.what(), {}};
    }
}

} // namespace workbench::gui
