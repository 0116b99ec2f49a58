#pragma once

#include "core/layout/flat_problem.h"
#include "core/support/result.h"

#include <memory>

namespace workbench {

/// Graphviz's `dot`, from top to bottom. One thread; a call cannot be interrupted.
class Graphviz {
public:
    Graphviz();
    ~Graphviz();
    Graphviz(const Graphviz&) = delete;
    Graphviz& operator=(const Graphviz&) = delete;

    Result<FlatSolution> solve(const FlatProblem& problem);

private:
    struct Context;
    std::unique_ptr<Context> m_context;
};

} // namespace workbench
