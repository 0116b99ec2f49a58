#pragma once

#include "core/support/result.h"
#include "runtime/program/comparison.h"
#include "runtime/program/program.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace workbench {

/// A rewritten place: which nodes of the rewritten graph stand for it, and which values they must reproduce.
struct SiteSpec {
    std::string id;
    std::vector<std::string> nodes; ///< output values of the replacement's nodes
    std::vector<std::string>
        outputs; ///< values of the original graph, of the same names in the rewritten one
};

/// Compares each site by itself: the replacement is fed what the original program computed at the site's
/// border, and its outputs are compared with the original's. A site is checked during the original's run, as
/// soon as the values at its border are there, and these are freed after it: only a few are ever kept.
class SiteChecks {
public:
    SiteChecks(Program& original, Program& rewritten, std::span<const at::Tensor> originalInputs,
               std::span<const at::Tensor> rewrittenInputs)
        : m_original(original), m_rewritten(rewritten), m_originalInputs(originalInputs),
          m_rewrittenInputs(rewrittenInputs) {}

    /// Finds the values at each site's border. An Error names a node or value that is not there.
    Status prepare(const std::vector<SiteSpec>& sites);
    /// For the original program's run.
    std::function<Status(ValueId, const at::Tensor&)> observer();
    /// One for each site, in order; an Error when the run did not bring all values.
    Result<std::vector<Difference>> finish();

    std::function<void(std::size_t done)> onProgress;

private:
    struct Check {
        std::string id;
        std::vector<NodeId> nodes;     ///< of the rewritten program, ascending
        std::vector<ValueId> outputs;  ///< of the rewritten program
        std::vector<ValueId> expected; ///< of the original program, parallel to outputs
        std::vector<ValueId> border;   ///< values of the original program that a run must bring
        std::size_t missing = 0;
        std::optional<Difference> difference;
    };

    Status prepareOne(const SiteSpec& site, Check& check);
    Status addBorder(const SiteSpec& site, Check& check);
    Status note(ValueId value, const at::Tensor& tensor);
    Status compareSite(Check& check);
    const at::Tensor* valueOf(ValueId original) const;

    Program& m_original;
    Program& m_rewritten;
    std::span<const at::Tensor> m_originalInputs;
    std::span<const at::Tensor> m_rewrittenInputs;
    std::vector<Check> m_checks;
    std::unordered_map<ValueId, std::vector<std::size_t>>
        m_waiting; ///< value of the original -> checks that need it
    std::unordered_map<ValueId, at::Tensor> m_values;
    std::unordered_map<ValueId, std::size_t> m_readers; ///< checks that still have to read a value
    std::size_t m_done = 0;
};

} // namespace workbench
