#pragma once

#include "app/cli/options.h"

#include <CLI/CLI.hpp>

namespace workbench::cli {

/// All of `serve` but model, decisions, worker and weights.
void addServeOptions(CLI::App& app, ServeOptions& options);

} // namespace workbench::cli
