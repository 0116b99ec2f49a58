#pragma once

#include "app/diagram/type_text.h"
#include "app/gui/document/document.h"
#include "app/session/inspection.h"
#include "app/session/source_forms.h"
#include "app/session/weight_statistics.h"
#include "fusion/match/explain.h"
#include "fusion/rewrite/gain.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace workbench::gui {

/// What the inspector looks up in threads, and keeps. Asking for something that is not there yet starts the
/// look; arrived() says that something came.
class Evidence : public QObject {
    Q_OBJECT
public:
    Evidence(Document& document, QObject* parent);

    const Inspection& inspection() const { return m_inspection; }
    const SymbolNames& names() const { return m_names; }

    /// nullptr: not there yet.
    const std::vector<CheckedCondition>* conditions(std::size_t site);
    /// By number of tokens; nullptr: not there yet, or the site has none.
    const SiteGain* gain(std::size_t site, int tokens);
    const Result<WeightStatistics>* statistics(const std::string& parameter);

    /// The rewritten forwards under the current decisions; nullptr before they are asked for or there.
    const Result<SourceForms>* forms() const;
    bool isMakingForms() const { return m_makingForms; }
    void makeForms();
    void stopForms() { m_formsJob.cancel(); }

Q_SIGNALS:
    void arrived();

private:
    using Gains = std::vector<std::optional<SiteGain>>;
    void lookUpGains(int tokens);

    Document& m_document;
    std::shared_ptr<const TracedModel> m_model; ///< what is kept refers to it
    Inspection m_inspection;
    SymbolNames m_names;
    std::map<std::size_t, std::vector<CheckedCondition>> m_conditions;
    std::set<std::size_t> m_explaining;
    std::map<int, Gains> m_gains;
    std::set<int> m_estimating;
    std::map<std::string, Result<WeightStatistics>> m_statistics;
    std::set<std::string> m_reading;
    std::optional<Result<SourceForms>> m_forms;
    Decisions m_formsOf; ///< the decisions that the forms belong to
    JobHandle m_formsJob;
    bool m_makingForms = false;
};

} // namespace workbench::gui
