#pragma once

#include <nlohmann/json.hpp>

#include <string>

/// What --weights leaves as it is stored. Counts are the worker's "products" of `load`: {"quantised",
/// "stored", "precise"}, each {"matrices", "bytes"}; of a worker of any version, so that anything else counts
/// as nothing.

namespace workbench {

/// Whether there are matrices that products read and that nothing makes fewer bits of: what a measurement on
/// quantised weights then says is about a part of them.
bool leavesProductWeights(const nlohmann::json& products);

/// "12 matrices that products read stay as they are stored (3.4 MB), 1 is in int4 (0.1 MB)", and how many
/// stay so on purpose; empty when all are in the format.
std::string describeProducts(const nlohmann::json& products, const std::string& format);

} // namespace workbench
