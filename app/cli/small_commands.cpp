#include "app/cli/commands.h"
#include "app/cli/pattern_guide.h"
#include "app/session/setup.h"

#include <iomanip>

namespace workbench::cli {
namespace {

void explain(std::ostream& out, const PatternGuide& guide) {
    out << guide.name << ": " << guide.summary << "\n\nFormula\n  " << guide.formula << "\n\nSketch\n";
    std::string_view rest = guide.sketch;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        out << "  " << rest.substr(0, end) << '\n';
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    out << "\nSeen in\n  " << guide.seenIn << "\n\nRefuses\n  " << guide.refuses << '\n';
}

} // namespace

Status runPatterns(const Options& options, Context& context) {
    if (options.explain.empty()) {
        for (const PatternGuide& guide : patternGuides())
            context.out << std::left << std::setw(14) << guide.name << guide.summary << '\n';
        return Ok{};
    }
    const PatternGuide* guide = findPattern(options.explain);
    if (!guide)
        return Error{ErrorCode::usage,
                     "there is no pattern '" + options.explain + "'; there are " + patternNames(),
                     options.explain};
    explain(context.out, *guide);
    return Ok{};
}

Status runPlanDiff(const Options& options, Context& context) {
    auto a = readPlan(options.diffA);
    if (!a)
        return a.error();
    auto b = readPlan(options.diffB);
    if (!b)
        return b.error();
    const std::vector<std::string> lines = diffPlans(*a, *b);
    for (const std::string& line : lines)
        context.out << line << '\n';
    if (lines.empty())
        context.out << "the plans decide the same\n";
    return Ok{};
}

Status runSetup(const Options&, Context& context) {
    auto report = setUp(context.locations, context.job);
    if (!report)
        return report.error();
    for (const auto& [name, value] : *report)
        context.out << std::left << std::setw(17) << name << value << '\n';
    return Ok{};
}

} // namespace workbench::cli
