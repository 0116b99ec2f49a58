#include "app/gui/canvas/canvas_pane.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/support/temporary_folder.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QTimer>
#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

/// With a layout helper that never answers.

namespace workbench::gui::test {
namespace {

class SlowLayoutTest : public testing::Test {
protected:
    SlowLayoutTest() {
        const std::filesystem::path helper = folder.path() / "workbench-layout";
        std::ofstream(helper) << "#!/bin/sh\nexec sleep 600\n";
        std::filesystem::permissions(helper, std::filesystem::perms::owner_all);
        Locations locations = Locations::find();
        locations.executables = folder.path();
        locations.cache = folder.path() / "cache";
        pane = std::make_unique<CanvasPane>(locations);
        show(2);
        pane->openScope("layers.0");
    }

    void show(int layers) {
        const auto model = smallModel(layers);
        pane->setSource({std::shared_ptr<const Graph>(model, &model->canonical), nullptr});
        pane->resize(600, 400);
        pane->show();
    }

    QWidget* card(const char* name) const { return pane->findChild<QWidget*>(name); }

    TemporaryDirectory folder;
    std::unique_ptr<CanvasPane> pane;
};

TEST_F(SlowLayoutTest, ALongLayoutOffersToCancelAndTheWindowGoesOn) {
    QElapsedTimer since;
    since.start();
    qint64 longest = 0;
    QTimer beat;
    QObject::connect(&beat, &QTimer::timeout, [&] { longest = std::max(longest, since.restart()); });
    beat.start(5);
    ASSERT_TRUE(waitFor([&] { return card("busyCard")->isVisible(); }));
    QTest::qWait(200);
    EXPECT_LT(longest, 1000) << "ms without a turn of the event loop";
    EXPECT_TRUE(pane->busy());
}

TEST_F(SlowLayoutTest, CancelStopsItAndSaysSo) {
    ASSERT_TRUE(waitFor([&] { return card("busyCard")->isVisible(); }));
    QTest::mouseClick(pane->findChild<QPushButton*>("cancelLayout"), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !pane->busy(); }, 5));
    EXPECT_FALSE(card("busyCard")->isVisible());
    EXPECT_TRUE(card("hintCard")->isVisible());
    EXPECT_EQ(pane->findChild<QLabel*>("canvasHint")->text(), "The layout was cancelled.");
    QTest::mouseClick(pane->findChild<QPushButton*>("retryLayout"), Qt::LeftButton);
    EXPECT_TRUE(pane->busy());
    EXPECT_FALSE(card("hintCard")->isVisible());
}

TEST_F(SlowLayoutTest, AGraphOfTenThousandNodesThatIsOpenedWholeCanBeCancelled) {
    constexpr int kLayers = 230;
    show(kLayers);
    DiagramRequest whole;
    whole.expanded.insert("*"); // everything
    pane->showRequest(whole);
    ASSERT_TRUE(waitFor([&] { return card("busyCard")->isVisible(); }));
    QElapsedTimer since;
    since.start();
    QTest::mouseClick(pane->findChild<QPushButton*>("cancelLayout"), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !pane->busy(); }, 30));
    EXPECT_LT(since.elapsed(), 3000);
    EXPECT_EQ(pane->findChild<QLabel*>("canvasHint")->text(), "The layout was cancelled.");
}

TEST_F(SlowLayoutTest, ClosingThePaneDoesNotWaitForTheLayout) {
    ASSERT_TRUE(waitFor([&] { return card("busyCard")->isVisible(); }));
    QElapsedTimer since;
    since.start();
    pane.reset();
    EXPECT_LT(since.elapsed(), 2000);
}

TEST(MissingLayoutHelper, IsSaidInThePane) {
    const TemporaryDirectory folder;
    Locations locations = Locations::find();
    locations.executables = folder.path();
    locations.cache = folder.path() / "cache";
    CanvasPane pane(locations);
    const auto model = smallModel(2);
    pane.setSource({std::shared_ptr<const Graph>(model, &model->canonical), nullptr});
    pane.show();
    pane.openScope("");
    ASSERT_TRUE(waitFor([&] { return !pane.busy(); }));
    EXPECT_TRUE(pane.findChild<QWidget*>("hintCard")->isVisible());
    EXPECT_TRUE(pane.findChild<QLabel*>("canvasHint")->text().contains("workbench-layout"));
}

} // namespace
} // namespace workbench::gui::test
