#include "app/gui/inspector/evidence.h"

namespace workbench::gui {

Evidence::Evidence(Document& document, QObject* parent)
    : QObject(parent), m_document(document), m_model(document.session().sharedModel()),
      m_inspection(m_model->canonical, m_model->analysis), m_names(m_model->canonical) {}

const std::vector<CheckedCondition>* Evidence::conditions(std::size_t site) {
    if (const auto found = m_conditions.find(site); found != m_conditions.end())
        return &found->second;
    if (!m_explaining.insert(site).second)
        return nullptr;
    using Conditions = std::vector<CheckedCondition>;
    m_document.look<Conditions>(
        this,
        [site](Session& session, const Job&) -> Result<Conditions> {
            const TracedModel& model = session.model();
            return explain(model.canonical, model.analysis.sites[site]);
        },
        [this, site](Result<Conditions> conditions) {
            m_explaining.erase(site);
            m_conditions[site] = conditions ? std::move(conditions).value() : Conditions();
            Q_EMIT arrived();
        });
    return nullptr;
}

void Evidence::lookUpGains(int tokens) {
    if (!m_estimating.insert(tokens).second)
        return;
    m_document.look<Gains>(
        this,
        [tokens](Session& session, const Job&) -> Result<Gains> {
            return estimateGains(session.model().canonical, session.model().analysis, tokens);
        },
        [this, tokens](Result<Gains> gains) {
            m_estimating.erase(tokens);
            m_gains[tokens] = gains ? std::move(gains).value() : Gains();
            Q_EMIT arrived();
        });
}

const SiteGain* Evidence::gain(std::size_t site, int tokens) {
    const auto found = m_gains.find(tokens);
    if (found == m_gains.end()) {
        lookUpGains(tokens);
        return nullptr;
    }
    return site < found->second.size() && found->second[site] ? &*found->second[site] : nullptr;
}

const Result<WeightStatistics>* Evidence::statistics(const std::string& parameter) {
    if (const auto found = m_statistics.find(parameter); found != m_statistics.end())
        return &found->second;
    if (!m_reading.insert(parameter).second)
        return nullptr;
    m_document.look<WeightStatistics>(
        this,
        [parameter](Session& session, const Job& job) {
            return weightStatistics(session.model(), parameter, job);
        },
        [this, parameter](Result<WeightStatistics> statistics) {
            m_reading.erase(parameter);
            m_statistics.insert_or_assign(parameter, std::move(statistics));
            Q_EMIT arrived();
        });
    return nullptr;
}

const Result<SourceForms>* Evidence::forms() const {
    return m_forms && m_formsOf == m_document.session().decisions() ? &*m_forms : nullptr;
}

void Evidence::makeForms() {
    if (std::exchange(m_makingForms, true))
        return;
    const Decisions decisions = m_document.session().decisions();
    m_formsJob = m_document.look<SourceForms>(
        this, [](Session& session, const Job& job) { return sourceForms(session, job); },
        [this, decisions](Result<SourceForms> forms) {
            m_makingForms = false;
            m_forms = std::move(forms);
            m_formsOf = decisions;
            if (!*m_forms && m_forms->error().code == ErrorCode::cancelled)
                m_forms.reset();
            Q_EMIT arrived();
        });
    Q_EMIT arrived();
}

} // namespace workbench::gui
