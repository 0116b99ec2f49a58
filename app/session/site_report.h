#pragma once

#include "app/session/session.h"
#include "app/session/site_evidence.h"

#include <string>

namespace workbench {

/// What a session knows of a site under its decisions. Matches the site anew for its conditions.
SiteEvidence evidenceOf(const Session& session, const Rewritten& rewritten, std::size_t site);

/// Everything that is known of a site, as Markdown to paste into an issue or a review.
std::string siteReport(const Session& session, const Rewritten& rewritten, std::size_t site);
/// The same with evidence that the session does not have (estimates, measurements).
std::string siteReport(const Session& session, std::size_t site, const SiteEvidence& evidence);

} // namespace workbench
