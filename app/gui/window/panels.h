#pragma once

#include "app/gui/document/panel.h"

#include <vector>

namespace workbench::gui {

/// Where a panel is at first; the user moves docks as they like. Panels of the centre are tabs there.
enum class Place { centre, left, right, bottom };

struct PanelSpec {
    const char* id;    ///< object name of the panel, key of its saved state
    const char* title; ///< translated in the context "panels"
    Place place;
    Panel* (*create)(Document&, Selection&, QWidget* parent);
};

/// Every panel, in the order of the View menu. The one place that lists them.
const std::vector<PanelSpec>& panels();

} // namespace workbench::gui
