#include "app/session/decisions.h"

#include "core/support/glob.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace workbench {
namespace {

bool names(const std::string& what, const Site& site) {
    return globMatches(what, site.pattern) || globMatches(what, site.id);
}

const char* optionOf(const DecisionRule& rule) {
    return rule.decision == Decision::apply ? "--apply" : "--reject";
}

/// "attention (3), qkv (3), ...", in the order of the analysis.
std::string whatExists(const Analysis& analysis) {
    std::map<std::string, int> counts;
    for (const Site& site : analysis.sites)
        ++counts[site.pattern];
    std::string list;
    for (const Site& site : analysis.sites) {
        const auto found = counts.find(site.pattern);
        if (found == counts.end())
            continue;
        list += (list.empty() ? "" : ", ") + site.pattern + " (" + std::to_string(found->second) + ")";
        counts.erase(found);
    }
    return list.empty() ? "none" : list;
}

Error namesNothing(const DecisionRule& rule, const Analysis& analysis) {
    return {ErrorCode::usage,
            std::string(optionOf(rule)) + " " + rule.what + " names no site of this model; it has " +
                whatExists(analysis) + ", see `workbench inspect`",
            rule.what};
}

Error allRefused(const DecisionRule& rule, const Site& first) {
    std::string reason;
    if (first.miss)
        reason = ": expected " + first.miss->expected + ", found " + first.miss->found;
    return {ErrorCode::usage,
            std::string(optionOf(rule)) + " " + rule.what + " names only refused sites, such as " + first.id +
                reason,
            rule.what};
}

/// Applies one rule; false when nothing that it names can be decided.
Status applyRule(const Analysis& analysis, const DecisionRule& rule, Decisions& decisions) {
    const Site* refused = nullptr;
    bool matched = false;
    for (const Site& site : analysis.sites) {
        if (!names(rule.what, site))
            continue;
        if (site.verdict == SiteVerdict::refused) {
            refused = refused ? refused : &site;
            continue;
        }
        matched = true;
        if (site.verdict == SiteVerdict::applicable)
            decisions[site.id] = rule.decision;
    }
    if (rule.what == "*")
        return Ok{}; // everything that can be decided, which may be nothing
    if (!matched && !refused)
        return namesNothing(rule, analysis);
    if (!matched && rule.decision == Decision::apply)
        return allRefused(rule, *refused);
    return Ok{};
}

Decision decisionFromName(const std::string& name) {
    if (name == "apply")
        return Decision::apply;
    return name == "reject" ? Decision::reject : Decision::undecided;
}

std::optional<double> numberOf(const FactValue& fact) {
    if (const auto* whole = std::get_if<std::int64_t>(&fact))
        return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&fact);
    return real ? std::optional(*real) : std::nullopt;
}

/// What the plan states otherwise; empty when it agrees. Facts of other versions of the program are not
/// compared.
std::string otherFact(const PlanSite& planned, const Site& site) {
    for (const auto& [name, fact] : planned.facts) {
        const auto known = site.facts.find(name);
        const bool same = known == site.facts.end() || known->second == fact ||
                          (numberOf(fact) && numberOf(fact) == numberOf(known->second));
        if (!same)
            return name;
    }
    return planned.parameters == site.parameters ? std::string() : "parameters";
}

Error disagrees(std::string_view file, const std::string& site, const std::string& what) {
    return {ErrorCode::badInput,
            "the plan " + std::string(file) + " states other " + what + " of the site " + site +
                " than this model has; make the plan anew",
            site};
}

} // namespace

Status sameFindings(const FusionPlan& plan, const Analysis& analysis, std::string_view file) {
    std::map<std::string_view, const Site*> sites;
    for (const Site& site : analysis.sites)
        sites.emplace(site.id, &site);
    for (const PlanSite& planned : plan.sites) {
        const auto found = sites.find(planned.id);
        if (found == sites.end())
            continue;
        if (const std::string what = otherFact(planned, *found->second); !what.empty())
            return disagrees(file, planned.id, what);
        std::vector<DerivedParameter> derived;
        for (const PlanDerived& entry : plan.derived)
            if (entry.site == planned.id)
                derived.push_back(entry.from);
        const bool applied = planned.state == "applied";
        if (derived != (applied ? found->second->derived : std::vector<DerivedParameter>()))
            return disagrees(file, planned.id, "merged weights");
    }
    return Ok{};
}

Result<Decisions> decide(const Analysis& analysis, Decisions start, const std::vector<DecisionRule>& rules) {
    for (const DecisionRule& rule : rules)
        if (auto applied = applyRule(analysis, rule, start); !applied)
            return applied.error();
    return start;
}

Result<Decisions> decisionsOf(const FusionPlan& plan, const Analysis& analysis, std::string_view file) {
    std::map<std::string_view, const Site*> sites;
    for (const Site& site : analysis.sites)
        sites.emplace(site.id, &site);
    Decisions decisions;
    for (const PlanSite& planned : plan.sites) {
        const auto found = sites.find(planned.id);
        if (found == sites.end())
            return Error{ErrorCode::badInput,
                         "the plan " + std::string(file) + " names the site " + planned.id +
                             ", which this model does not have; make the plan anew",
                         planned.id};
        const Decision decision = decisionFromName(planned.decision);
        if (decision == Decision::apply && found->second->verdict == SiteVerdict::refused)
            return Error{ErrorCode::badInput,
                         "the plan " + std::string(file) + " applies the site " + planned.id +
                             ", which is refused here; make the plan anew",
                         planned.id};
        if (decision != Decision::undecided)
            decisions[planned.id] = decision;
    }
    return decisions;
}

void DecisionHistory::set(Choices choices, std::string what) {
    if (choices == this->choices())
        return;
    m_steps.resize(m_at + 1);
    m_steps.push_back({std::make_shared<Choices>(std::move(choices)), std::move(what)});
    ++m_at;
}

void DecisionHistory::set(Decisions decisions, std::string what) {
    set(Choices{std::move(decisions), choices().notes}, std::move(what));
}

bool DecisionHistory::undo() {
    if (!canUndo())
        return false;
    --m_at;
    return true;
}

bool DecisionHistory::redo() {
    if (!canRedo())
        return false;
    ++m_at;
    return true;
}

} // namespace workbench
