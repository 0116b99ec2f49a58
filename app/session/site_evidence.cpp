#include "app/session/site_evidence.h"

#include "app/session/plan_builder.h"
#include "core/graph/op_classes.h"
#include "core/support/real_text.h"
#include "fusion/match/pattern.h"

#include <array>
#include <cstdio>

namespace workbench {
namespace {

struct FactWriter {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return realText(value); }
    std::string operator()(const std::string& value) const { return value; }
    template <class T>
    std::string operator()(const std::vector<T>& list) const {
        std::string text = "[";
        for (const T& item : list)
            text += (text.size() > 1 ? ", " : "") + (*this)(item);
        return text + "]";
    }
};

std::string format(const char* pattern, double value) {
    std::array<char, 64> buffer;
    const int length = std::snprintf(buffer.data(), buffer.size(), pattern, value);
    return {buffer.data(), static_cast<std::size_t>(length)};
}

/// A cell of a table: a bar would end it.
std::string cell(const std::string& text) {
    std::string escaped;
    for (const char c : text)
        escaped += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    return escaped;
}

std::string line(const std::string& name, const std::string& text) {
    return text.empty() ? "" : "- " + name + ": " + text + "\n";
}

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items)
        text += (text.empty() ? "" : ", ") + item;
    return text;
}

std::string decisionText(Decision decision) {
    return decision == Decision::undecided ? "undecided" : decision == Decision::apply ? "apply" : "reject";
}

std::string stateText(const Site& site, const SiteEvidence& evidence) {
    std::string text(verdictName(site.verdict));
    if (site.verdict != SiteVerdict::applicable)
        return text;
    text += ", decision " + decisionText(evidence.decision) + ", " +
            std::string(stateName(evidence.outcome.state));
    return evidence.outcome.with.empty() ? text : text + " (" + evidence.outcome.with + ")";
}

std::string estimateText(const SiteEvidence& evidence) {
    if (!evidence.estimated)
        return {};
    const SiteGain& gain = *evidence.estimated;
    return std::to_string(gain.bytesSaved()) + " of " + std::to_string(gain.before.bytes) +
           " bytes of traffic and " + std::to_string(gain.launchesSaved()) + " of " +
           std::to_string(gain.before.launches) + " launches less, for " + std::to_string(evidence.tokens) +
           (evidence.tokens == 1 ? " token" : " tokens");
}

std::string rolesTable(const Graph& graph, const Site& site) {
    if (site.roles.empty())
        return {};
    std::string text = "\n| part | node | source |\n|---|---|---|\n";
    for (const RoleNode& role : site.roles)
        text += "| " + cell(role.role) + " | " + cell(nodeText(graph, role.node)) + " | " +
                sourceText(graph, role.node) + " |\n";
    return text;
}

std::string conditionsTable(const Graph& graph, const std::vector<CheckedCondition>& conditions) {
    if (conditions.empty())
        return {};
    std::string text = "\n### Conditions\n\n| | condition | found | node | source |\n|---|---|---|---|---|\n";
    for (const CheckedCondition& one : conditions)
        text += std::string("| ") + (one.holds ? "holds" : "**fails**") + " | " + cell(one.condition) +
                " | " + cell(one.found) + " | " + cell(nodeText(graph, one.node)) + " | " +
                sourceText(graph, one.node) + " |\n";
    return text;
}

} // namespace

std::string factText(const FactValue& value) {
    return std::visit(FactWriter{}, value);
}

std::string derivedText(const DerivedParameter& derived) {
    return "cat(" + std::to_string(derived.dim) + ", " + joined(derived.sources) + ")";
}

std::string proofText(const PlanProof& proof) {
    return std::string(proof.passed ? "passed" : "failed") + ": relative error " +
           format("%.2g", proof.relativeError) + ", tolerance " + format("%.2g", proof.tolerance) + " (" +
           proof.dtype + ", " + proof.kind + ", " + std::to_string(proof.tokens) + " tokens)";
}

std::string speedText(const SpeedGain& gain) {
    return format("%+.1f %%", gain.percent) + " (" + format("%+.1f", gain.low) + " to " +
           format("%+.1f", gain.high) + ")" +
           (gain.weights == kStoredWeights ? "" : " on " + gain.weights + " weights");
}

std::string nodeText(const Graph& graph, NodeId node) {
    if (node == kNone)
        return {};
    const Node& made = graph.node(node);
    const std::string op(baseName(made.op));
    return made.outputs.empty() ? op : graph.value(made.outputs.front()).name + " (" + op + ")";
}

std::string evidenceReport(const Graph& canonical, const Site& site, const SiteEvidence& evidence) {
    const Pattern* pattern = findPattern(site.pattern);
    std::vector<std::string> facts, derived;
    for (const auto& [name, value] : site.facts)
        facts.push_back(name + "=" + factText(value));
    for (const DerivedParameter& one : site.derived)
        derived.push_back(derivedText(one));
    std::string text = "## `" + site.id + "`\n\n";
    text += line("Pattern", site.pattern + (pattern ? ", `" + std::string(pattern->formula) + "`" : ""));
    text += line("Module", site.module);
    text += line("Verdict", stateText(site, evidence));
    text += line("Reason", site.miss ? reasonText(canonical, *site.miss) : "");
    text += line("Note", evidence.note);
    text += line("Facts", joined(facts));
    text += line("Parameters", joined(site.parameters));
    text += line("Merged weights", joined(derived));
    text += line("Estimated gain", estimateText(evidence));
    text += line("Share of the measured gain", evidence.measured ? speedText(*evidence.measured) : "");
    text += line("Proof", evidence.proof ? proofText(*evidence.proof) : "");
    if (pattern)
        text += "\n```\n" + std::string(pattern->sketch) + "\n```\n";
    return text + rolesTable(canonical, site) + conditionsTable(canonical, evidence.conditions);
}

} // namespace workbench
