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
/// LibTorch; one thread at a time. A copy shares the traced models and costs little: a job works on one.
class Session {
public:
    /// MODEL is a model directory (with weights or without), a .pt2 archive, or org/name[@revision].
    static Result<std::unique_ptr<Session>> open(const std::string& model, const TraceOptions& options,
                                                 const Locations& locations, const Job& job);
    /// Of a model that was already read.
    static Session of(std::shared_ptr<const TracedModel> model, const TraceOptions& options,
                      const Locations& locations);

    const TracedModel& model() const { return *m_model; }
    const std::shared_ptr<const TracedModel>& sharedModel() const { return m_model; }
    const Locations& locations() const { return m_locations; }
    const TraceOptions& options() const { return m_options; }
    const std::optional<Tracer>& tracer() const { return m_tracer; } ///< none for archives

    const Decisions& decisions() const { return m_history.current(); }
    const DecisionHistory& history() const { return m_history; }
    /// `what` tells the step in a menu; see DecisionHistory.
    void decide(Decisions decisions, std::string what = {});
    /// Of the same model as it was before: takes what still has its site. Returns the sites that are gone.
    std::vector<std::string> adopt(const Choices& choices, std::string what = {});
    void setNote(const std::string& site, const std::string& note, std::string what = {}); ///< "": none
    bool undo();
    bool redo();

    /// Takes decisions, notes and proofs of a saved plan. An error names the file: another model, a site that
    /// is gone.
    Status usePlan(const FusionPlan& plan, const std::string& file, const Job& job);
    /// For whoever shows or saves proofs: leaves out those of a used plan that are of other weights than the
    /// model's, or of unknown ones, and says so; "" where all hold. Reads the weights of a model directory.
    std::string dropProofsOfOtherWeights();

    /// The rewritten graph under the current decisions.
    Result<std::shared_ptr<const Rewritten>> rewritten();
    Result<FusionPlan> plan();

    /// What a verification found; the plan carries it from now on.
    void setProofs(std::map<std::string, PlanProof, std::less<>> sites, PlanProof endToEnd,
                   std::string weights);
    const PlanProof* proof(std::string_view site) const; ///< nullptr: none
    const PlanProof* endToEnd() const;                   ///< of the current decisions; nullptr: none

    /// Takes what a copy found out meanwhile: proofs and siblings. Says whether proofs came.
    bool takeFindings(const Session& copy);

    /// The same model traced in another element type, or its reduced-size replica; kept.
    Result<const TracedModel*> sibling(TraceDtype dtype, bool replica, const Job& job);

private:
    Session() = default;
    void take(std::shared_ptr<const TracedModel> model);
    void decisionsChanged();
    bool move(bool (DecisionHistory::*step)());
    Status checkFingerprint(const FusionPlan& plan, const std::string& file, const Job& job);

    Locations m_locations;
    TraceOptions m_options;
    std::optional<Tracer> m_tracer;
    std::shared_ptr<const TracedModel> m_model;
    std::map<std::pair<TraceDtype, bool>, std::shared_ptr<const TracedModel>> m_siblings;
    DecisionHistory m_history;
    std::shared_ptr<const Rewritten> m_rewritten;
    PlanContext m_context;
    bool m_endToEndHolds = false;    ///< the end-to-end proof is of the current decisions
    std::size_t m_verifications = 0; ///< counts setProofs()
};

} // namespace workbench
