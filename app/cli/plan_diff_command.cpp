#include "app/cli/commands.h"
#include "core/plan/plan.h"

namespace workbench::cli {

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

} // namespace workbench::cli
