#pragma once

#include "app/session/traced_model.h"
#include "fusion/fusion.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A model in a few words, for command line and window.

namespace workbench {

/// "LlamaForCausalLM (llama, bf16), 30 layers, hidden 576, vocabulary 49152".
std::string modelLine(const ModelFacts& facts);

/// What a site is under the decisions: applicable, applied, rejected, refused, present, contained, conflicts.
std::string_view shownVerdict(const Site& site, const SiteOutcome& outcome);

struct StateCount {
    std::string_view state; ///< as shownVerdict() says it
    std::int64_t count = 0;
};

/// How much of a pattern is found, and what became of its sites.
struct PatternSummary {
    Coverage coverage;
    std::vector<StateCount> states; ///< in the order of the first of each
    std::int64_t countOf(std::string_view state) const;
};

/// One for each pattern, in the order of the coverage.
std::vector<PatternSummary> summarizePatterns(const TracedModel& model, const Rewritten& rewritten);

/// "12.0 MiB".
std::string memoryText(std::int64_t bytes);

} // namespace workbench
