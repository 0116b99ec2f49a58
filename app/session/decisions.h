#pragma once

#include "core/plan/plan.h"
#include "fusion/site.h"

#include <string>
#include <vector>

namespace workbench {

/// One --apply or --reject: a pattern name, a site id, or a glob over either.
struct DecisionRule {
    Decision decision = Decision::apply;
    std::string what;
};

/// Decisions after the rules, in order, on top of `start`; a later rule wins. A rule that names nothing, and
/// an apply of nothing but refused sites, are usage errors that say what there is.
Result<Decisions> decide(const Analysis& analysis, Decisions start, const std::vector<DecisionRule>& rules);

/// The decisions of a saved plan. A site of the plan that the analysis does not have, or that it refuses
/// though the plan applies it, is an error (badInput) that names both the site and the file.
Result<Decisions> decisionsOf(const FusionPlan& plan, const Analysis& analysis, std::string_view file);

/// Fails (badInput) where the plan says of a site or of a merged weight something else than the analysis of
/// the graph that it was made for: whoever reads that file would compute other numbers than those proven
/// here.
Status sameFindings(const FusionPlan& plan, const Analysis& analysis, std::string_view file);

/// Decisions with undo and redo.
class DecisionHistory {
public:
    const Decisions& current() const { return m_states[m_at]; }
    void set(Decisions decisions); ///< forgets what was undone; does nothing when equal
    bool undo();                   ///< false: there is nothing to undo
    bool redo();

private:
    std::vector<Decisions> m_states{Decisions{}};
    std::size_t m_at = 0;
};

} // namespace workbench
