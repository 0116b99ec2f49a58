#pragma once

#include "app/cli/options.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace workbench::cli {

/// --prompt-tokens, --new-tokens, --rounds.
void addLoadOptions(CLI::App& app, Options& options);
/// All of `bench` but model, decisions and worker.
void addBenchOptions(CLI::App& app, Options& options);
/// After the parse: the load of that kind, with the sizes that were given. Usage errors.
Status completeBenchOptions(const CLI::App& app, Options& options);

/// "--load", "trace", "FILE" becomes "--load", "trace:FILE": an option with one value or two would swallow
/// MODEL.
std::vector<std::string> joinTraceFile(const std::vector<std::string>& words);

} // namespace workbench::cli
