#pragma once

#include "core/graph/text.h"

#include <gtest/gtest.h>

#include <string_view>

namespace workbench {

/// The graph of a text that must be valid.
inline Graph graphFrom(std::string_view text) {
    Result<Graph> graph = parseGraph(text);
    if (!graph) {
        ADD_FAILURE() << graph.error().message << " " << graph.error().where << "\n" << text;
        return {};
    }
    return std::move(graph).value();
}

} // namespace workbench
