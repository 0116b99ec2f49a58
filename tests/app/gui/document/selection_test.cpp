#include "app/gui/document/selection.h"

#include <QtTest/QSignalSpy>

#include <gtest/gtest.h>

namespace workbench::gui {
namespace {

TEST(Selection, ChoosingOneKindDropsTheOthers) {
    Selection selection;
    selection.selectSite(3, "layers.0");
    EXPECT_EQ(selection.site(), 3u);
    selection.selectNode(7, "layers.1");
    EXPECT_FALSE(selection.site());
    EXPECT_EQ(selection.node(), 7);
    selection.selectModule("norm");
    EXPECT_EQ(selection.node(), kNone);
    EXPECT_EQ(selection.module(), "norm");
}

TEST(Selection, TellsAChangeOnce) {
    Selection selection;
    QSignalSpy changes(&selection, &Selection::changed);
    selection.selectNode(7, "layers.1");
    selection.selectNode(7, "layers.1");
    EXPECT_EQ(changes.size(), 1);
}

} // namespace
} // namespace workbench::gui
