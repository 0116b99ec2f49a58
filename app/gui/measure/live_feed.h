#pragma once

#include "app/session/bisect.h"
#include "app/session/measurement.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace workbench::gui {

/// What a measuring thread has found out since the window looked last. Filled by the one, emptied by the
/// other: a quick worker never floods the event loop.
class LiveFeed {
public:
    struct News {
        std::optional<BenchReport> report; ///< the latest
        std::vector<BenchPace> paces;
        std::optional<std::vector<std::string>> sites; ///< of the bisection, before its first step
        std::vector<BisectStep> steps;
    };

    MeasureObserver observer() {
        return {[this](const BenchPace& pace) { change([&](News& news) { news.paces.push_back(pace); }); },
                [this](const BenchReport& report) { change([&](News& news) { news.report = report; }); }};
    }
    void sites(std::vector<std::string> sites) {
        change([&](News& news) { news.sites = std::move(sites); });
    }
    void step(const BisectStep& step) {
        change([&](News& news) { news.steps.push_back(step); });
    }
    News take() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_news, {});
    }

private:
    template <class Change>
    void change(const Change& apply) {
        const std::lock_guard lock(m_mutex);
        apply(m_news);
    }

    std::mutex m_mutex;
    News m_news;
};

} // namespace workbench::gui
