#pragma once

#include "core/plan/plan.h"
#include "fusion/site.h"

#include <map>
#include <memory>
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

/// The user's own words by site id.
using SiteNotes = std::map<std::string, std::string, std::less<>>;

/// All that the user chose.
struct Choices {
    Decisions decisions;
    SiteNotes notes;
    bool operator==(const Choices&) const = default;
};

/// Choices with undo and redo. A copy shares the steps, so that it costs little.
class DecisionHistory {
public:
    const Choices& choices() const { return *m_steps[m_at].choices; }
    const Decisions& current() const { return choices().decisions; }
    /// Forgets what was undone; does nothing when equal. `what` tells the step in a menu: "reject qkv".
    void set(Choices choices, std::string what = {});
    void set(Decisions decisions, std::string what = {});
    bool undo(); ///< false: there is nothing to undo
    bool redo();
    bool canUndo() const { return m_at > 0; }
    bool canRedo() const { return m_at + 1 < m_steps.size(); }
    /// What undo() would take back and redo() would do again; "" where there is nothing.
    std::string undoText() const { return canUndo() ? m_steps[m_at].what : std::string(); }
    std::string redoText() const { return canRedo() ? m_steps[m_at + 1].what : std::string(); }

private:
    struct Step {
        std::shared_ptr<const Choices> choices;
        std::string what;
    };
    std::vector<Step> m_steps{{std::make_shared<Choices>(), {}}};
    std::size_t m_at = 0;
};

} // namespace workbench
