#include "app/session/bench_trace.h"

#include "core/support/read_file.h"
#include "core/support/strict_json.h"

#include <sstream>

namespace workbench {
namespace {

constexpr std::uint64_t kLargestFile = 64 << 20;

constexpr std::int64_t kMostTokens = 16 << 20;
constexpr double kLatestArrival = 86'400; // seconds

std::int64_t tokens(const JsonView& view) {
    const std::int64_t value = view.integer();
    if (value < 1 || value > kMostTokens)
        view.fault("is not from 1 to " + std::to_string(kMostTokens));
    return value;
}

/// `earliest`: the arrival of the request before it.
TraceRequest readRequest(const JsonView& view, double earliest) {
    view.expectKeys({"arrival_s", "prompt_tokens", "new_tokens"});
    TraceRequest request{view.at("arrival_s").number(), tokens(view.at("prompt_tokens")),
                         tokens(view.at("new_tokens"))};
    if (!(request.arrivalSeconds >= earliest))
        view.at("arrival_s").fault("is before the request above, or before 0");
    else if (!(request.arrivalSeconds <= kLatestArrival))
        view.at("arrival_s").fault("is later than a day");
    return request;
}

} // namespace

Result<std::vector<TraceRequest>> benchTraceFromText(std::string_view text, std::string_view where) {
    std::vector<TraceRequest> trace;
    std::istringstream lines{std::string(text)};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        const std::string what = "the trace " + std::string(where) + ", line " + std::to_string(number);
        auto json = parseJson(line, what);
        if (!json)
            return json.error();
        JsonFault fault(what);
        trace.push_back(
            readRequest(JsonView(*json, "", fault), trace.empty() ? 0 : trace.back().arrivalSeconds));
        if (fault.found())
            return Error{ErrorCode::badInput, fault.error().message, std::string(where)};
    }
    if (trace.empty())
        return Error{ErrorCode::badInput,
                     "the trace " + std::string(where) + " has no request: write one a line",
                     std::string(where)};
    return trace;
}

Result<std::vector<TraceRequest>> readBenchTrace(const std::filesystem::path& file) {
    auto text = readFile(file, kLargestFile);
    if (!text)
        return text.error();
    return benchTraceFromText(*text, file.string());
}

} // namespace workbench
