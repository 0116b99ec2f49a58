#include "app/gui/canvas/canvas_tiles.h"

#include <gtest/gtest.h>

#include <chrono>

namespace workbench::gui::test {
namespace {

using namespace std::chrono_literals;
using Haste = CanvasTiles::Haste;

constexpr QSize kViewport(1000, 700); // 2 x 2 tiles where it begins at a corner of one

/// A drawing that knows how often it was painted, and takes its time on a clock of its own.
class CanvasTilesTest : public testing::Test {
protected:
    bool paint(const QPoint& origin, double zoom, Haste haste = Haste::complete, QRegion region = {}) {
        if (region.isEmpty())
            region = QRect({}, kViewport);
        QPainter painter(&m_screen);
        painter.setClipRegion(region);
        return m_tiles.paint(painter, region, {zoom, QRect(origin, kViewport), 1}, haste, Qt::white,
                             [this](QPainter& on, const QRectF& part) {
                                 ++m_painted;
                                 m_now += m_takes;
                                 draw(on, part);
                             });
    }
    static void draw(QPainter& painter, const QRectF& part) {
        painter.fillRect(part, Qt::white);
        painter.fillRect(QRectF(100, 100, 300, 200), Qt::red);
        painter.fillRect(QRectF(700, 500, 300, 300), Qt::blue);
    }
    QColor at(int x, int y) const { return m_screen.pixelColor(x, y); }

    std::chrono::milliseconds m_now{0};
    CanvasTiles m_tiles{[this] { return m_now; }};
    QImage m_screen{kViewport, QImage::Format_RGB32};
    int m_painted = 0;
    std::chrono::milliseconds m_takes{0};
};

TEST_F(CanvasTilesTest, ShowsTheDrawingAtItsPlaceAndSize) {
    EXPECT_TRUE(paint({50, 40}, 2));
    QImage expected(kViewport, QImage::Format_RGB32);
    QPainter painter(&expected);
    painter.translate(-50, -40);
    painter.scale(2, 2);
    draw(painter, QRectF(0, 0, 2000, 2000));
    painter.end();
    EXPECT_EQ(m_screen, expected);
}

TEST_F(CanvasTilesTest, PaintsNothingTwice) {
    paint({0, 0}, 1);
    EXPECT_EQ(m_painted, 4);
    paint({0, 0}, 1);
    EXPECT_EQ(m_painted, 4);
    paint({100, 0}, 1); // two more on the right
    EXPECT_EQ(m_painted, 6);
    paint({0, 0}, 1);
    EXPECT_EQ(m_painted, 6) << "the way back is kept";
}

TEST_F(CanvasTilesTest, PaintsOnlyTheRegionThatIsAskedFor) {
    EXPECT_FALSE(paint({0, 0}, 1, Haste::complete, QRect(0, 0, 10, 10))) << "the rest is not there yet";
    EXPECT_EQ(m_painted, 1);
}

TEST_F(CanvasTilesTest, PlacesLeftOfAndAboveTheOriginHaveTilesToo) {
    EXPECT_TRUE(paint({-300, -200}, 1));
    EXPECT_EQ(at(100 + 300 + 5, 100 + 200 + 5), QColor(Qt::red));
    EXPECT_EQ(at(5, 5), QColor(Qt::white));
}

TEST_F(CanvasTilesTest, AFrameOfASlowZoomShowsTheLastSizeStretchedAndIsSharpWhenItRests) {
    m_takes = 5ms; // four tiles are more than a frame has time for
    paint({0, 0}, 1);
    m_painted = 0;
    EXPECT_FALSE(paint({0, 0}, 1.5, Haste::brief));
    EXPECT_EQ(m_painted, 0);
    EXPECT_TRUE(m_tiles.waits());
    EXPECT_EQ(at(400, 300), QColor(Qt::red)) << "at the new place";
    EXPECT_EQ(at(120, 120), QColor(Qt::white));
    EXPECT_FALSE(m_tiles.blurred().isEmpty());
    int frames = 1;
    while (!paint({0, 0}, 1.5, Haste::brief) && frames < 10)
        ++frames;
    EXPECT_EQ(frames, 4) << "one tile in each of the others: its time is a frame's";
    EXPECT_EQ(m_painted, 4);
    EXPECT_TRUE(m_tiles.blurred().isEmpty());
    const QImage rested = m_screen;
    m_tiles.clear();
    paint({0, 0}, 1.5);
    EXPECT_EQ(rested, m_screen);
}

TEST_F(CanvasTilesTest, AZoomThatIsQuickIsSharpAtOnce) {
    m_takes = 1ms;
    paint({0, 0}, 1);
    EXPECT_TRUE(paint({0, 0}, 1.5, Haste::brief));
    EXPECT_FALSE(m_tiles.waits());
}

TEST_F(CanvasTilesTest, AZoomThatGoesOnShowsTheLastSizeThatWasWhole) {
    m_takes = 5ms;
    paint({0, 0}, 1);
    for (const double zoom : {1.1, 1.2, 1.3, 1.4, 1.5})
        EXPECT_FALSE(paint({0, 0}, zoom, Haste::brief));
    EXPECT_EQ(m_painted, 4) << "those of the beginning";
    EXPECT_EQ(at(400, 300), QColor(Qt::red));
}

TEST_F(CanvasTilesTest, WhatLooksDifferentIsPaintedAnewInFramesThatAreBrief) {
    paint({0, 0}, 1);
    m_takes = 5ms;
    m_screen.fill(Qt::green);
    m_tiles.outdate();
    EXPECT_FALSE(paint({0, 0}, 1, Haste::brief));
    EXPECT_EQ(at(990, 690), QColor(Qt::blue)) << "the old look, where there was no time yet";
    while (!paint({0, 0}, 1, Haste::brief)) {
    }
    EXPECT_EQ(m_painted, 8);
}

} // namespace
} // namespace workbench::gui::test
