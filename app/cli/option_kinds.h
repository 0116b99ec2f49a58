#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The kinds of options that the commands have.

namespace workbench::cli {

/// An option that is given again and again, one value each time, so that it never swallows MODEL.
CLI::Option* addRepeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                           const std::string& help);

/// A whole number of at least `least`.
CLI::Validator wholeNumber(std::int64_t least, std::int64_t most = INT64_MAX);

/// A switch: it is there or not. `--apply-all=false` is refused rather than read as either.
CLI::Option* addSwitch(CLI::App& app, const std::string& name, bool& value, const std::string& help);

} // namespace workbench::cli
