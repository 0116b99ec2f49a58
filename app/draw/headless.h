#pragma once

namespace workbench {

/// What drawing needs of Qt without a display. Call once, in the main thread, before anything else of Qt;
/// does nothing when an application is there already.
void startHeadlessDrawing();

} // namespace workbench
