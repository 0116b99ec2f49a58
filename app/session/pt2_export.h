#pragma once

#include "app/session/session.h"

#include <filesystem>

namespace workbench {

/// Writes the rewritten program as a torch.export archive. Its parameters have data when the model has
/// weights; without, the archive holds the program alone, as the tracer's own does. Atomic.
Status exportPt2(Session& session, const std::filesystem::path& file, const Job& job);

} // namespace workbench
