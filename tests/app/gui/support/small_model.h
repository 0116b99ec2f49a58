#pragma once

#include "app/gui/document/document.h"

#include <memory>
#include <string>

/// Models for the window's tests, made of graph text: no tracer, no weights.

namespace workbench::gui::test {

/// A decoder of `layers` alike layers (norms, q/k/v, rotation, attention, gate-up); the activation of the
/// last one is none that a kernel has, so that its gate-up is refused and it is told apart in the module
/// tree.
std::string smallModelText(int layers);
std::shared_ptr<const TracedModel> smallModel(int layers);
Session smallSession(int layers);

/// Turns the event loop until `done()`; false when that takes longer than `seconds`.
bool waitFor(const std::function<bool()>& done, int seconds = 20);

/// Opens a small model in a document and waits until it is ready; fails the test when it does not get there.
void openSmallModel(Document& document, int layers = 4);
/// Waits until the rewritten graph follows the decisions.
void settle(Document& document);

} // namespace workbench::gui::test
