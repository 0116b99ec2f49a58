#pragma once

#include "app/draw/scene.h"

#include <memory>

/// Scenes put together by hand, so that tests of the view need no layout.

namespace workbench::gui::test {

/// Six boxes: x feeds left and right, both feed sum, sum feeds the module "block", w is a weight beside left.
///
///            x
///         /     \            -
///  w - left     right
///         \     /            -
///           sum
///            |
///          block
std::shared_ptr<const Scene> diamond();
enum DiamondBox : std::int32_t { kX, kLeft, kRight, kSum, kBlock, kWeight };

/// `columns` x `rows` nodes, each fed by the one above it.
std::shared_ptr<const Scene> grid(int columns, int rows);

} // namespace workbench::gui::test
