#include "app/session/site_report.h"

#include "app/session/summary.h"

namespace workbench {

SiteEvidence evidenceOf(const Session& session, const Rewritten& rewritten, std::size_t index) {
    const TracedModel& model = session.model();
    const Site& site = model.analysis.sites[index];
    SiteEvidence evidence;
    evidence.outcome = rewritten.outcomes[index];
    if (const auto decided = session.decisions().find(site.id); decided != session.decisions().end())
        evidence.decision = decided->second;
    const SiteNotes& notes = session.history().choices().notes;
    if (const auto note = notes.find(site.id); note != notes.end())
        evidence.note = note->second;
    if (const PlanProof* proof = session.proof(site.id))
        evidence.proof = *proof;
    evidence.conditions = explain(model.canonical, site);
    return evidence;
}

std::string siteReport(const Session& session, std::size_t index, const SiteEvidence& evidence) {
    const TracedModel& model = session.model();
    return evidenceReport(model.canonical, model.analysis.sites[index], evidence) +
           "\nModel: " + modelLine(model.facts) + ". Workbench " + WORKBENCH_VERSION + ", graph `" +
           model.fingerprint + "`\n";
}

std::string siteReport(const Session& session, const Rewritten& rewritten, std::size_t index) {
    return siteReport(session, index, evidenceOf(session, rewritten, index));
}

} // namespace workbench
