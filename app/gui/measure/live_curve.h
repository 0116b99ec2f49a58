#pragma once

#include "app/session/measurement.h"

#include <QtCore/QPointF>

#include <vector>

namespace workbench::gui {

/// Turns the paces of one program into the points of its live curve: speed between two paces, at the share of
/// the round that is done.
class LiveCurve {
public:
    void add(const BenchPace& pace, qint64 newTokens);
    const std::vector<QPointF>& points() const { return m_points; }

private:
    BenchPace m_last{{}, -2, 0, 0};
    std::vector<QPointF> m_points;
};

} // namespace workbench::gui
