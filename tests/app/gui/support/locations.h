#pragma once

#include "app/session/locations.h"
#include "tests/support/temporary_folder.h"

namespace workbench::gui::test {

/// With the helper that lays graphs out, and a cache of the test's own.
Locations locationsFor(const TemporaryDirectory& folder);

} // namespace workbench::gui::test
