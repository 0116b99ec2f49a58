#include "core/graph/text.h"
#include "core/plan/plan.h"
#include "core/support/sha256.h"

namespace workbench {

std::string fingerprint(const Graph& canonical, std::string_view configJson) {
    Sha256 hash;
    hash.update(print(canonical, {.locations = false}));
    // A byte that neither text has keeps the border between them.
    hash.update(std::string_view("\0", 1));
    hash.update(configJson);
    return "sha256:" + hash.finishHex();
}

} // namespace workbench
