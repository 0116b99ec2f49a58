#include "app/cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace workbench::cli {
namespace {

/// A sentence that came from elsewhere must stay one line.
std::string oneLine(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return line;
}

} // namespace

void startLog(LogLevel level) {
    auto logger = spdlog::stderr_logger_mt("workbench");
    logger->set_pattern(level == LogLevel::verbose ? "%H:%M:%S.%e %v" : "%v");
    logger->set_level(level == LogLevel::quiet     ? spdlog::level::warn
                      : level == LogLevel::verbose ? spdlog::level::debug
                                                   : spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
}

// A line for each step: counters within one ("12/90") are not worth a line each, but to who asked for more.
void logProgress(std::string_view stage, std::string_view detail) {
    static std::string last;
    std::string step = oneLine(stage) + (detail.empty() ? "" : ": ") + oneLine(detail);
    std::string shape = step;
    std::erase_if(shape, [](unsigned char c) { return std::isdigit(c); });
    if (shape != last || spdlog::should_log(spdlog::level::debug))
        spdlog::info("{}", step);
    last = std::move(shape);
}

void logWarning(std::string_view sentence) {
    spdlog::warn("warning: {}", oneLine(sentence));
}

void logDetail(std::string_view sentence) {
    spdlog::debug("{}", oneLine(sentence));
}

void logError(std::string_view sentence) {
    spdlog::error("error: {}", oneLine(sentence));
}

} // namespace workbench::cli
