#include "core/layout/layout.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace workbench {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHelper = WORKBENCH_LAYOUT_HELPER;

LayoutGraph chain(std::size_t length) {
    LayoutGraph graph;
    for (std::size_t i = 0; i < length; ++i)
        graph.boxes.push_back({80, 30});
    for (std::size_t i = 0; i + 1 < length; ++i)
        graph.edges.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i + 1)});
    return graph;
}

/// Graphviz needs minutes for it.
LayoutGraph tangle() {
    LayoutGraph graph = chain(3000);
    for (std::int32_t i = 0; i < 9000; ++i)
        graph.edges.push_back({i % 1500, 1500 + i * 7 % 1500});
    return graph;
}

/// Two alike containers, one after the other: each has two boxes in a row.
LayoutGraph twoContainers() {
    LayoutGraph graph;
    graph.boxes = {{100, 0, -1, 24}, {100, 0, -1, 24}, {60, 20, 0}, {60, 20, 0}, {60, 20, 1}, {60, 20, 1}};
    graph.edges = {{2, 3}, {3, 4}, {4, 5}};
    return graph;
}

bool contains(const Rect& outer, const Rect& inner) {
    return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
           inner.y + inner.height <= outer.y + outer.height;
}

bool overlap(const Rect& a, const Rect& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

class LayoutEngineTest : public TemporaryFolder {
protected:
    Result<Layout> layOut(const LayoutGraph& graph) {
        LayoutEngine engine(kHelper, {});
        return engine.layOut(graph, {}, nullptr);
    }
    std::size_t cachedFiles() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder()), {}));
    }
};

TEST_F(LayoutEngineTest, EdgesLeadDownwards) {
    const auto layout = layOut(chain(4));
    ASSERT_TRUE(layout) << layout.error().message;
    for (std::size_t i = 0; i + 1 < 4; ++i)
        EXPECT_LT(layout->boxes[i].y + layout->boxes[i].height, layout->boxes[i + 1].y);
}

TEST_F(LayoutEngineTest, BoxesHaveTheirSizesAndDoNotOverlap) {
    LayoutGraph graph = chain(3);
    graph.boxes.push_back({200, 50});
    graph.edges.push_back({0, 3});
    const auto layout = layOut(graph);
    ASSERT_TRUE(layout);
    for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
        EXPECT_EQ(layout->boxes[i].width, graph.boxes[i].width);
        EXPECT_EQ(layout->boxes[i].height, graph.boxes[i].height);
        EXPECT_TRUE(contains(layout->bounds, layout->boxes[i]));
        for (std::size_t k = 0; k < i; ++k)
            EXPECT_FALSE(overlap(layout->boxes[i], layout->boxes[k])) << i << " " << k;
    }
}

TEST_F(LayoutEngineTest, AnEmptyGraphHasNoSize) {
    const auto layout = layOut({});
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->bounds, Rect{});
}

TEST_F(LayoutEngineTest, EdgesAreBezierCurvesFromBoxToBox) {
    const auto layout = layOut(chain(2));
    ASSERT_TRUE(layout);
    const std::vector<Point>& edge = layout->edges.at(0);
    ASSERT_EQ(edge.size() % 3, 1U);
    EXPECT_NEAR(edge.front().y, layout->boxes[0].y + layout->boxes[0].height, 1.5);
    EXPECT_NEAR(edge.back().y, layout->boxes[1].y, 1.5);
}

TEST_F(LayoutEngineTest, LabelsHaveRoomOfTheirOwn) {
    LayoutGraph graph = chain(2);
    graph.edges[0].label = {90, 15};
    const auto layout = layOut(graph);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->labels.at(0).width, 90);
    for (const Rect& box : layout->boxes)
        EXPECT_FALSE(overlap(layout->labels[0], box));
}

TEST_F(LayoutEngineTest, EdgesKeepAwayFromTheSidesOfABox) {
    LayoutGraph graph = chain(2);
    graph.boxes[1] = {300, 30, -1, 0, 200, 0};
    const auto layout = layOut(graph);
    ASSERT_TRUE(layout);
    EXPECT_GE(layout->edges[0].back().x, layout->boxes[1].x + 200);
}

TEST_F(LayoutEngineTest, ChildrenLieInTheirContainerBelowItsHeader) {
    const auto layout = layOut(twoContainers());
    ASSERT_TRUE(layout);
    for (const std::size_t child : {2, 3, 4, 5}) {
        const Rect& container = layout->boxes[child < 4 ? 0 : 1];
        EXPECT_TRUE(contains(container, layout->boxes[child])) << child;
        EXPECT_GE(layout->boxes[child].y, container.y + 24) << child;
    }
    EXPECT_FALSE(overlap(layout->boxes[0], layout->boxes[1]));
}

TEST_F(LayoutEngineTest, AnEdgeAcrossBordersIsOneConnectedCurve) {
    const auto layout = layOut(twoContainers());
    ASSERT_TRUE(layout);
    const std::vector<Point>& edge = layout->edges.at(1);
    ASSERT_EQ(edge.size() % 3, 1U);
    EXPECT_NEAR(edge.front().y, layout->boxes[3].y + 20, 1.5);
    EXPECT_NEAR(edge.back().y, layout->boxes[4].y, 1.5);
    const auto passes = [&](double y) {
        return std::any_of(edge.begin(), edge.end(),
                           [&](const Point& point) { return std::abs(point.y - y) < 1.5; });
    };
    EXPECT_TRUE(passes(layout->boxes[0].y + layout->boxes[0].height));
    EXPECT_TRUE(passes(layout->boxes[1].y));
}

TEST_F(LayoutEngineTest, AlikeContainersAreSolvedOnce) {
    LayoutGraph graph;
    for (std::int32_t i = 0; i < 6; ++i) {
        graph.boxes.push_back({100, 0, -1, 24});
        graph.boxes.push_back({60, 20, 2 * i});
    }
    LayoutEngine engine(kHelper, folder());
    ASSERT_TRUE(engine.layOut(graph, {}, nullptr));
    EXPECT_EQ(cachedFiles(), 2U); // one container's content and the whole
}

TEST_F(LayoutEngineTest, SolutionsComeFromTheCacheFolder) {
    const LayoutGraph graph = twoContainers();
    const auto solved = LayoutEngine(kHelper, folder()).layOut(graph, {}, nullptr);
    ASSERT_TRUE(solved);
    const auto cached = LayoutEngine("/nonexistent/helper", folder()).layOut(graph, {}, nullptr);
    ASSERT_TRUE(cached) << cached.error().message;
    EXPECT_EQ(cached->boxes, solved->boxes);
    EXPECT_EQ(cached->edges, solved->edges);
}

TEST_F(LayoutEngineTest, ADamagedCacheFileIsSolvedAgain) {
    ASSERT_TRUE(LayoutEngine(kHelper, folder()).layOut(chain(3), {}, nullptr));
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
        writeFile(entry.path().filename(), R"({"boxes": [1, 2]})");
    const auto again = LayoutEngine(kHelper, folder()).layOut(chain(3), {}, nullptr);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->boxes.size(), 3U);
}

TEST_F(LayoutEngineTest, AMissingHelperIsNamed) {
    const auto layout = LayoutEngine("/nonexistent/helper", {}).layOut(chain(2), {}, nullptr);
    ASSERT_FALSE(layout);
    EXPECT_EQ(layout.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(layout.error().message.find("/nonexistent/helper"), std::string::npos)
        << layout.error().message;
}

TEST_F(LayoutEngineTest, AHelperThatDiesIsAnError) {
    const auto layout = LayoutEngine("/bin/false", {}).layOut(chain(2), {}, nullptr);
    ASSERT_FALSE(layout);
    EXPECT_NE(layout.error().message.find("exited with status 1"), std::string::npos)
        << layout.error().message;
}

TEST_F(LayoutEngineTest, AnAnswerThatIsNoLayoutIsAnError) {
    const auto layout = LayoutEngine("/bin/cat", {}).layOut(chain(2), {}, nullptr);
    ASSERT_FALSE(layout);
    EXPECT_NE(layout.error().message.find("protocol"), std::string::npos) << layout.error().message;
}

TEST_F(LayoutEngineTest, ACancelStopsGraphvizAndTheEngineGoesOn) {
    LayoutEngine engine(kHelper, {});
    ASSERT_TRUE(engine.layOut(chain(2), {}, nullptr)); // the helper runs
    CancelToken cancel;
    std::thread canceller([&] { cancel.cancel(); });
    const auto layout = engine.layOut(tangle(), {}, &cancel);
    canceller.join();
    ASSERT_FALSE(layout);
    EXPECT_EQ(layout.error().code, ErrorCode::cancelled);
    EXPECT_TRUE(engine.layOut(chain(3), {}, nullptr));
}

TEST_F(LayoutEngineTest, ATimeLimitStopsGraphvizAndTheEngineGoesOn) {
    LayoutEngine engine(kHelper, {});
    LayoutOptions options;
    options.timeLimit = 50ms;
    const auto layout = engine.layOut(tangle(), options, nullptr);
    ASSERT_FALSE(layout);
    EXPECT_NE(layout.error().message.find("time limit"), std::string::npos) << layout.error().message;
    EXPECT_TRUE(engine.layOut(chain(3), {}, nullptr));
}

TEST_F(LayoutEngineTest, ALongRequestKeepsNoOtherWaiting) {
    LayoutEngine engine(kHelper, {});
    CancelToken cancel;
    std::thread slow([&] {
        const auto layout = engine.layOut(tangle(), {}, &cancel);
        EXPECT_EQ(layout.error().code, ErrorCode::cancelled);
    });
    for (std::size_t i = 2; i < 5; ++i)
        EXPECT_TRUE(engine.layOut(chain(i), {}, nullptr)) << "beside one that needs minutes";
    cancel.cancel();
    slow.join();
}

TEST_F(LayoutEngineTest, ManyThreadsAreAllServed) {
    LayoutEngine engine(kHelper, {});
    std::vector<std::thread> threads;
    std::atomic<int> solved = 0;
    for (std::size_t i = 2; i < 12; ++i)
        threads.emplace_back([&, i] { solved += engine.layOut(chain(i), {}, nullptr).ok(); });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(solved, 10);
}

} // namespace
} // namespace workbench
