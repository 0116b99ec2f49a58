#include "app/cli/commands.h"
#include "fusion/match/pattern.h"

#include <algorithm>
#include <iomanip>

namespace workbench::cli {
namespace {

void explain(std::ostream& out, const Pattern& pattern) {
    out << pattern.name << ": " << pattern.summary << "\n\nFormula\n  " << pattern.formula << "\n\nSketch\n";
    std::string_view before = pattern.sketch;
    for (std::size_t end = before.find('\n'); end != std::string_view::npos; end = before.find('\n')) {
        out << "  " << before.substr(0, end) << '\n';
        before.remove_prefix(end + 1);
    }
    out << "becomes\n  " << before << "\n\n"
        << pattern.explanation << "\n\nRefused\n  " << pattern.refuses << '\n';
}

} // namespace

Status runPatterns(const Options& options, Context& context) {
    if (options.explain.empty()) {
        std::size_t width = 0;
        for (const Pattern& pattern : patterns())
            width = std::max(width, pattern.name.size());
        for (const Pattern& pattern : patterns())
            context.out << std::left << std::setw(static_cast<int>(width) + 2) << pattern.name
                        << pattern.summary << '\n';
        return Ok{};
    }
    const Pattern* pattern = findPattern(options.explain);
    if (!pattern)
        return Error{ErrorCode::usage,
                     "there is no pattern '" + options.explain + "'; there are " + patternNames(),
                     options.explain};
    explain(context.out, *pattern);
    return Ok{};
}

} // namespace workbench::cli
