#pragma once

#include "app/session/job.h"
#include "app/session/locations.h"

#include <string>
#include <utility>
#include <vector>

namespace workbench {

/// Names and values to show: paths and versions.
using SetupReport = std::vector<std::pair<std::string, std::string>>;

/// Makes the Python environment where there is none, then checks what tracer and worker need of it. An Error
/// says what is missing.
Result<SetupReport> setUp(const Locations& locations, const Job& job);

} // namespace workbench
