#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace workbench {

/// A named fact of a site, read from the graph: eps, scale, window, activation, weights.
using FactValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>,
                               std::vector<std::int64_t>>;
using Facts = std::map<std::string, FactValue, std::less<>>;

} // namespace workbench
