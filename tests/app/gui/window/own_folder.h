#pragma once

#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/support/temporary_folder.h"

#include <QtCore/QSettings>

namespace workbench::gui::test {

/// Windows without earlier settings, with a cache of their own and a tracer that is none.
class OwnFolder : public TemporaryFolder {
protected:
    void SetUp() override {
        QSettings().clear();
        qputenv("WORKBENCH_PYTHON", WORKBENCH_FAKE_PYTHON);
        m_locations = Locations::find();
        m_locations.cache = folder() / "cache";
    }

    OpenRequest missing() const {
        OpenRequest request;
        request.model = QString::fromStdString((folder() / "missing.pt2").string());
        return request;
    }
    /// A tab with a small model that is ready, after a failed opening.
    ModelTab* openSmallIn(MainWindow& window) const {
        ModelTab* tab = window.openModel(missing());
        EXPECT_TRUE(waitFor([&] { return tab->document().state() == Document::State::failed; }));
        tab->document().openSession(smallSession(4));
        EXPECT_TRUE(waitFor([&] { return tab->workspace() != nullptr; }));
        return tab;
    }

    Locations m_locations;
};

} // namespace workbench::gui::test
