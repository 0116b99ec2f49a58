#pragma once

#include "core/graph/graph.h"

#include <nlohmann/json.hpp>

#include <string>

namespace workbench::pt2 {

/// models/model.json for a graph. `envelope`: Pt2Archive::envelope of the archive that the graph comes from,
/// or empty. Stored inputs that nothing uses are left out.
Result<nlohmann::json> describeProgram(const Graph& graph, const std::string& envelope);

/// The inputs that describeProgram() keeps, in its order: parameters, buffers, constants, user inputs.
std::vector<const Input*> keptInputs(const Graph& graph);

/// {"dtype", "sizes", "strides", ...} of contiguous stored data of constant shape.
nlohmann::json storedMeta(const TensorMeta& meta);

/// Buffers that belong to the state dict, as the envelope says.
bool isPersistent(const nlohmann::json& envelope, const std::string& buffer);
nlohmann::json parseEnvelope(const std::string& envelope);

} // namespace workbench::pt2
