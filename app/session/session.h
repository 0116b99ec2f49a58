#pragma once

#include "app/session/decisions.h"
#include "app/session/job.h"
#include "app/session/locations.h"
#include "app/session/plan_builder.h"
#include "app/session/traced_model.h"
#include "app/session/tracer.h"
#include "fusion/fusion.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace workbench {

/// One opened model with its decisions: the object that command line and window drive. Free of Qt and
/// LibTorch; one thread at a time.
class Session {
public:
    /// MODEL is a model directory (with weights or without), a .pt2 archive, or org/name[@revision].
    static Result<std::unique_ptr<Session>> open(const std::string& model, const TraceOptions& options,
                                                 const Locations& locations, const Job& job);

    const TracedModel& model() const { return *m_model; }
    const Locations& locations() const { return m_locations; }
    const TraceOptions& options() const { return m_options; }
    const std::optional<Tracer>& tracer() const { return m_tracer; } ///< none for archives

    const Decisions& decisions() const { return m_history.current(); }
    void decide(Decisions decisions);
    bool undo();
    bool redo();

    /// Takes decisions, notes and proofs of a saved plan. An error names the file: another model, a site that
    /// is gone.
    Status usePlan(const FusionPlan& plan, const std::string& file, const Job& job);

    /// The rewritten graph under the current decisions; valid until they change.
    Result<const Rewritten*> rewritten();
    Result<FusionPlan> plan();

    /// What a verification found; the plan carries it from now on.
    void setProofs(std::map<std::string, PlanProof, std::less<>> sites, PlanProof endToEnd,
                   std::string weights);

    /// The same model traced in another element type, or its reduced-size replica; kept.
    Result<const TracedModel*> sibling(TraceDtype dtype, bool replica, const Job& job);

private:
    Session() = default;
    Status checkFingerprint(const FusionPlan& plan, const std::string& file, const Job& job);

    Locations m_locations;
    TraceOptions m_options;
    std::optional<Tracer> m_tracer;
    std::unique_ptr<TracedModel> m_model;
    std::map<std::pair<TraceDtype, bool>, std::unique_ptr<TracedModel>> m_siblings;
    DecisionHistory m_history;
    std::optional<Rewritten> m_rewritten;
    PlanContext m_context;
    bool m_endToEndHolds = false; ///< the end-to-end proof is of the current decisions
};

} // namespace workbench
