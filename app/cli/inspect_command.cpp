#include "app/cli/commands.h"
#include "app/cli/report.h"
#include "app/session/inspect_json.h"

#include <nlohmann/json.hpp>

namespace workbench::cli {

Status runInspect(const Options& options, Context& context) {
    auto opened = openSession(options, context, false);
    if (!opened)
        return opened.error();
    Session& session = **opened;
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    if (options.json) {
        context.out
            << inspectJson(session, **rewritten).dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
            << '\n';
        return Ok{};
    }
    context.out << modelLine(session.model().facts) << "\nfingerprint " << session.model().fingerprint
                << "\n\n";
    printTree(context.out, session);
    context.out << "\nCoverage\n";
    printCoverage(context.out, session, **rewritten);
    context.out << "\nSites\n";
    printSites(context.out, session, **rewritten);
    printNearMisses(context.out, session);
    return Ok{};
}

} // namespace workbench::cli
