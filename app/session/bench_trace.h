#pragma once

#include "app/session/bench_report.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace workbench {

/// Requests of a trace, one JSON object a line: {"arrival_s": 0.5, "prompt_tokens": 64, "new_tokens": 32}, in
/// order of arrival. An Error names file, line and key.
Result<std::vector<TraceRequest>> readBenchTrace(const std::filesystem::path& file);
Result<std::vector<TraceRequest>> benchTraceFromText(std::string_view text, std::string_view where);

} // namespace workbench
