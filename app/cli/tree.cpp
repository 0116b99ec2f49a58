#include "app/cli/report.h"

#include <nlohmann/json.hpp>

namespace workbench::cli {

void printTree(std::ostream& out, const Session& session) {
    (void)out;
    (void)session;
}

nlohmann::ordered_json treeJson(const Session&) {
    return nlohmann::ordered_json::array();
}

} // namespace workbench::cli
