#pragma once

#include "app/session/traced_model.h"
#include "fusion/fusion.h"

#include <string>
#include <vector>

namespace workbench {

/// Sites that differ in nothing but the number of their layer.
struct SiteGroup {
    std::string name;               ///< "qkv@model.layers.{0-27}.self_attn"
    std::vector<std::size_t> sites; ///< indices into Analysis::sites, ascending
    std::string state;              ///< "applied", "contained in add-rms-norm"
    std::string reason;             ///< of the first, for refused ones
};

/// In the order of their first sites.
std::vector<SiteGroup> groupSites(const TracedModel& model, const Rewritten& rewritten);

/// "0-4,6,8-9" of ascending numbers.
std::string rangeText(const std::vector<std::int64_t>& numbers);

} // namespace workbench
