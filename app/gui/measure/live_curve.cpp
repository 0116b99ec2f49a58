#include "app/gui/measure/live_curve.h"

#include <algorithm>

namespace workbench::gui {

void LiveCurve::add(const BenchPace& pace, qint64 newTokens) {
    const BenchPace last = std::exchange(m_last, pace);
    if (pace.round < 0)
        return; // the one that is not counted
    const bool goesOn = last.round == pace.round;
    const double seconds = pace.seconds - (goesOn ? last.seconds : 0);
    const auto tokens = static_cast<double>(pace.tokens - (goesOn ? last.tokens : 0));
    if (!(seconds > 0) || !(tokens > 0))
        return;
    const double share =
        static_cast<double>(pace.tokens) / static_cast<double>(std::max<qint64>(1, newTokens));
    m_points.emplace_back(static_cast<double>(pace.round) + std::min(share, 0.999), tokens / seconds);
}

} // namespace workbench::gui
