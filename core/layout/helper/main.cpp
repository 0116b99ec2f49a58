#include "core/layout/helper/graphviz.h"
#include "core/wire/frame.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdio>

/// Solves layout problems from stdin until it is closed: a frame with a problem in, a frame with its solution
/// or {"error": ...} out. Whoever waits kills this process when it takes too long.

using namespace workbench;

namespace {

nlohmann::json answerTo(Graphviz& graphviz, const std::string& text) {
    const auto problem = problemFromJson(nlohmann::json::parse(text, nullptr, false));
    if (!problem)
        return {{"error", "this is no layout problem"}};
    const auto solution = graphviz.solve(*problem);
    if (!solution)
        return {{"error", solution.error().message}};
    return toJson(*solution);
}

} // namespace

int main() {
    Graphviz graphviz;
    for (;;) {
        const auto request = readFrame(STDIN_FILENO);
        if (!request)
            return 0;
        if (!writeFrame(STDOUT_FILENO, {answerTo(graphviz, request->json).dump(), {}}))
            return 1;
    }
}
