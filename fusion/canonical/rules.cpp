#include "fusion/canonical/draft.h"

namespace workbench {

const std::vector<CanonicalRule>& canonicalRules() {
    static const std::vector<CanonicalRule> rules{
        {"casts", unifyCasts},
        {"copies", dropCopies},
        {"views", unifyViews},
        {"transposes", unifyTransposes},
        {"pieces", unifyPieces},
        {"slices", unifySlices},
        {"concatenations", unifyConcatenations},
        {"squares", unifySquares},
        {"roots", unifyRoots},
        {"arithmetic", unifyArithmetic},
        {"linears", unifyLinears},
    };
    return rules;
}

} // namespace workbench
