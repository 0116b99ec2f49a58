#pragma once

#include "app/cli/options.h"

#include <CLI/CLI.hpp>

#include <set>
#include <string>
#include <vector>

/// Options that several commands share, and what all options are read into.

namespace workbench::cli {

struct OptionValues {
    Options options;

    // Repeated options land here first, since their order across options is only known after the parse.
    bool applyAll = false;
    std::vector<std::string> apply;
    std::vector<std::string> reject;
    std::vector<std::string> requirements;

    /// Options that the window takes too: with nothing but these `workbench` may open it.
    std::set<const CLI::Option*> ofWindow;
};

/// MODEL and how it is traced. All of them are the window's too: window_command.cpp hands them on.
void addModel(CLI::App& app, OptionValues& values, bool required);
void addDecisions(CLI::App& app, OptionValues& values);
void addWorker(CLI::App& app, OptionValues& values);
void addWeights(CLI::App& app, OptionValues& values);

} // namespace workbench::cli
