#include "app/draw/theme.h"
#include "app/gui/canvas/canvas_view.h"
#include "tests/app/gui/canvas/drawn_scene.h"
#include "tests/support/own_milliseconds.h"

#include <QtGui/QImage>
#include <QtGui/QWindow>
#include <QtWidgets/QApplication>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

/// Times of the canvas's frames with many boxes in sight, painted by the raster engine. Not a test: it
/// prints.
///     QT_QPA_PLATFORM=offscreen .../tests/canvas_frame_bench

namespace workbench::gui::test {
namespace {

constexpr int kFrames = 200;

void print(const char* what, const CanvasView& view, std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const QRectF part = view.visiblePart();
    const auto inSight = std::count_if(view.drawn()->boxes.begin(), view.drawn()->boxes.end(),
                                       [&](const QRectF& box) { return part.intersects(box); });
    std::printf("%-34s %5d boxes in sight, zoom %.2f: p50 %5.2f ms, p95 %5.2f ms, worst %5.2f ms\n", what,
                static_cast<int>(inSight), view.zoom(), times[times.size() / 2],
                times[times.size() * 95 / 100], times.back());
    std::fflush(stdout);
}

/// A frame: the step, and what the window paints after it, up to the backing store. Frames that sharpen what
/// a movement left stretched count as well; they come every `restEvery` steps, where the movement rests.
void measure(const char* what, CanvasView& view, const std::function<void(int)>& step, int restEvery) {
    std::vector<double> times;
    const auto frame = [&](const std::function<void()>& change) {
        const double start = ownMilliseconds();
        change();
        QEvent paint(QEvent::UpdateRequest);
        QApplication::sendEvent(&view, &paint);
        times.push_back(ownMilliseconds() - start);
    };
    for (int i = 0; i < kFrames; ++i) {
        frame([&] { step(i); });
        if (i % restEvery == restEvery - 1)
            while (!view.isSharp())
                frame([&] { view.viewport()->update(); });
    }
    print(what, view, std::move(times));
}

/// The whole viewport painted anew, and what copying it takes: no frame is below that.
void measureWhole(CanvasView& view) {
    std::vector<double> times, copies;
    QImage image(view.viewport()->size(), QImage::Format_RGB32);
    for (int i = 0; i < 20; ++i) {
        const double start = ownMilliseconds();
        view.setTheme(Theme::light());
        view.viewport()->render(&image);
        times.push_back(ownMilliseconds() - start);
        const double copy = ownMilliseconds();
        view.viewport()->render(&image);
        copies.push_back(ownMilliseconds() - copy);
    }
    print("  all painted anew", view, std::move(times));
    print("  all copied", view, std::move(copies));
}

void run(const char* size, int width, int height) {
    CanvasView view;
    view.resize(width, height);
    view.show();
    while (!view.windowHandle() || !view.windowHandle()->isExposed())
        QApplication::processEvents();
    const auto scene = grid(50, 40);
    view.showScene(scene);
    std::vector<NodeMark> marks(scene->boxes.size());
    for (std::size_t i = 0; i < marks.size(); ++i)
        if (i % 3 != 0)
            marks[i] = {NodeMark::State::applied, static_cast<std::int32_t>(i % 7),
                        static_cast<std::int32_t>(i)};
    view.setColours(std::make_shared<const SceneColours>(coloursOf(scene->diagram, &marks, nullptr)));
    view.fit();
    std::printf("%s\n", size);
    measure(
        "  pan, all in sight", view,
        [&](int frame) {
            view.centreOn(scene->bounds.center() + QPointF(3 * (frame % 20), 2 * (frame % 17)) / view.zoom());
        },
        40);
    const double whole = view.zoom();
    measure(
        "  zoom, all in sight", view,
        [&](int frame) { view.zoomTo(whole * (1 - 0.001 * (frame % 20)), QPointF(width, height) / 2); }, 20);
    measureWhole(view);
    view.zoomTo(1, QPointF(width, height) / 2);
    measure(
        "  pan, close up", view,
        [&](int frame) {
            view.centreOn(scene->bounds.center() + QPointF(40 * (frame % 40), 30 * (frame % 17)));
        },
        40);
    measure(
        "  zoom, close up", view,
        [&](int frame) { view.zoomTo(1 + 0.01 * (frame % 20), QPointF(width, height) / 2); }, 20);
    measureWhole(view);
}

} // namespace
} // namespace workbench::gui::test

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    workbench::gui::test::run("1280 x 800", 1280, 800);
    workbench::gui::test::run("2560 x 1440", 2560, 1440);
}
