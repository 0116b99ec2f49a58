#pragma once

#include "app/session/session.h"

#include <nlohmann/json_fwd.hpp>

namespace workbench {

/// The object of `inspect --json`.
nlohmann::ordered_json inspectJson(const Session& session, const Rewritten& rewritten);

/// The module tree as JSON: {"label", "path", "class", "count", "nodes", "parameter_bytes", "children"}.
nlohmann::ordered_json treeJson(const Session& session);

} // namespace workbench
