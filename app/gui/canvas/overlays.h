#pragma once

#include "app/diagram/overlay.h"
#include "app/gui/document/document.h"

#include <functional>
#include <memory>
#include <vector>

namespace workbench::gui {

/// A kind of numbers that can be laid over the graph. A new one is a line in overlayChoices().
struct OverlayChoice {
    const char* id;    ///< of the saved state
    const char* title; ///< translated in the context "overlays"
    const char* hint;  ///< what to do while there are no numbers; may be empty
    std::function<Overlay(const Document&)> make;
};

/// In the order of the menu; "none" is not among them.
const std::vector<OverlayChoice>& overlayChoices();

/// "weights: 256 MB": the numbers of all nodes that a diagram shows.
QString totalText(const Overlay& overlay, const Diagram& diagram);

} // namespace workbench::gui
