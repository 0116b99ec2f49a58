#include "app/cli/commands.h"

namespace workbench::cli {

/// Stands in for render_command.cpp where Qt or Graphviz was not found.
Status runRender(const Options&, Context&) {
    return Error{
        ErrorCode::usage,
        "this build cannot draw: configure it with WORKBENCH_GUI=ON and the packages of Qt 6 and Graphviz",
        {}};
}

} // namespace workbench::cli
