#include "app/gui/window/panels.h"

#include "app/gui/before_after/before_after_panel.h"
#include "app/gui/canvas/canvas_panel.h"
#include "app/gui/decisions/decisions_panel.h"
#include "app/gui/inspector/inspector_panel.h"
#include "app/gui/measure/measure_panel.h"
#include "app/gui/overview/overview_panel.h"

namespace workbench::gui {
namespace {

template <class T>
Panel* make(Document& document, Selection& selection, QWidget* parent) {
    return new T(document, selection, parent);
}

} // namespace

const std::vector<PanelSpec>& panels() {
    static const std::vector<PanelSpec> all = {
        {"overview", QT_TRANSLATE_NOOP("panels", "Overview"), Place::left, make<OverviewPanel>},
        {"canvas", QT_TRANSLATE_NOOP("panels", "Graph"), Place::centre, make<CanvasPanel>},
        {"before_after", QT_TRANSLATE_NOOP("panels", "Before and After"), Place::centre,
         make<BeforeAfterPanel>},
        {"inspector", QT_TRANSLATE_NOOP("panels", "Inspector"), Place::right, make<InspectorPanel>},
        {"decisions", QT_TRANSLATE_NOOP("panels", "Decisions"), Place::bottom, make<DecisionsPanel>},
        {"measure", QT_TRANSLATE_NOOP("panels", "Measure"), Place::bottom, make<MeasurePanel>},
    };
    return all;
}

} // namespace workbench::gui
