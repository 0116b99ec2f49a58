#pragma once

#include "fusion/fusion.h"

#include <QtCore/QString>

namespace workbench::gui {

/// What became of a site, in the user's language: "applied", "contained", ...
QString stateText(SiteOutcome::State state);

} // namespace workbench::gui
