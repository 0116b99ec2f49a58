#pragma once

#include "app/session/bench_report.h"

#include <filesystem>
#include <string>

namespace workbench {

/// A measurement as one page with pictures, which needs no other file.
std::string benchHtml(const BenchReport& report);
Status writeBenchHtml(const BenchReport& report, const std::filesystem::path& file);

} // namespace workbench
