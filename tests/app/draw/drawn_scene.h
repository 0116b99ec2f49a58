#pragma once

#include "app/draw/headless.h"
#include "app/draw/scene.h"
#include "tests/app/diagram/layered_model.h"

namespace workbench {

/// A scene of the layered model, or of another.
inline std::shared_ptr<const Scene> sceneOf(const DrawnModel& model, const DiagramRequest& request) {
    startHeadlessDrawing();
    LayoutEngine engine(WORKBENCH_LAYOUT_HELPER, {});
    auto scene = makeScene(buildDiagram(model.graph, model.tree, request), engine, nullptr);
    return scene ? std::move(scene).value() : nullptr;
}

/// Everything opened: an embedding, two layers with pills beside their products, a head.
inline std::shared_ptr<const Scene> openedScene() {
    return sceneOf(layeredModel({2, 3}), {"", {"*", "model.layers.0.proj", "model.layers.1.proj"}});
}

} // namespace workbench
