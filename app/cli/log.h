#pragma once

#include <string_view>

/// Messages for people, on stderr. Kept apart from spdlog's headers.

namespace workbench::cli {

enum class LogLevel { quiet, normal, verbose };

void startLog(LogLevel level);
void logProgress(std::string_view stage, std::string_view detail);
void logWarning(std::string_view sentence);
void logDetail(std::string_view sentence); ///< with --verbose only, which also gives times and every counter
void logError(std::string_view sentence);  ///< always; one line whatever the sentence holds

} // namespace workbench::cli
