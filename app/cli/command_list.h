#pragma once

#include "app/cli/commands.h"

#include <vector>

namespace CLI {
class App;
}

namespace workbench::cli {

struct OptionValues;

/// A command of the command line.
struct Command {
    const char* name; ///< "" of the one that runs without a name
    const char* help; ///< one line
    Status (*run)(const Options&, Context&);
    void (*addOptions)(CLI::App&, OptionValues&);
    /// After the parse: what the options owe one another. Usage errors.
    Status (*complete)(const CLI::App&, Options&) = nullptr;
};

/// In the order of `workbench --help`.
const std::vector<Command>& commands();

} // namespace workbench::cli
