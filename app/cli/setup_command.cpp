#include "app/cli/commands.h"
#include "app/session/setup.h"

#include <iomanip>

namespace workbench::cli {

Status runSetup(const Options&, Context& context) {
    auto report = setUp(context.locations, context.job);
    if (!report)
        return report.error();
    for (const auto& [name, value] : *report)
        context.out << std::left << std::setw(17) << name << value << '\n';
    return Ok{};
}

} // namespace workbench::cli
