#include "tests/app/gui/support/locations.h"

namespace workbench::gui::test {

Locations locationsFor(const TemporaryDirectory& folder) {
    Locations locations = Locations::find();
    locations.executables = WORKBENCH_LAYOUT_FOLDER;
    locations.cache = folder.path();
    return locations;
}

} // namespace workbench::gui::test
