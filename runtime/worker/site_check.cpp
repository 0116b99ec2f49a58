#include "runtime/worker/site_check.h"

#include <algorithm>
#include <set>

namespace workbench {
namespace {

Error siteError(const std::string& id, const std::string& problem, const std::string& where) {
    return Error{ErrorCode::runtimeFailed, "Site " + id + " cannot be checked: " + problem, where};
}

bool isUserInput(const Program& program, ValueId value) {
    const auto& names = program.userInputs();
    return std::find(names.begin(), names.end(), program.graph().value(value).name) != names.end();
}

} // namespace

Status SiteChecks::prepareOne(const SiteSpec& site, Check& check) {
    check.id = site.id;
    std::set<NodeId> nodes;
    for (const std::string& name : site.nodes) {
        const ValueId value = m_rewritten.find(name);
        const NodeId producer = value == kNone ? kNone : m_rewritten.graph().value(value).producer;
        if (producer == kNone)
            return siteError(site.id, "the rewritten graph has no node that makes %" + name + ".", name);
        nodes.insert(producer);
    }
    check.nodes.assign(nodes.begin(), nodes.end());
    for (const std::string& name : site.outputs) {
        const ValueId after = m_rewritten.find(name);
        const ValueId before = m_original.find(name);
        if (after == kNone || before == kNone)
            return siteError(site.id,
                             "the " + std::string(after == kNone ? "rewritten" : "original") +
                                 " graph has no value %" + name + ".",
                             name);
        check.outputs.push_back(after);
        check.expected.push_back(before);
    }
    if (check.outputs.empty() || check.nodes.empty())
        return siteError(site.id, "it has no " + std::string(check.nodes.empty() ? "nodes." : "outputs."),
                         site.id);
    return addBorder(site, check);
}

Status SiteChecks::addBorder(const SiteSpec& site, Check& check) {
    std::set<ValueId> border(check.expected.begin(), check.expected.end());
    for (const NodeId node : check.nodes)
        for (const ValueId id : operands(m_rewritten.graph().node(node))) {
            const Value& value = m_rewritten.graph().value(id);
            const bool inside = std::binary_search(check.nodes.begin(), check.nodes.end(), value.producer);
            if (inside || m_rewritten.isHeld(id) || isUserInput(m_rewritten, id))
                continue;
            const ValueId before = m_original.find(value.name);
            if (before == kNone)
                return siteError(site.id,
                                 "the original graph has no value %" + value.name +
                                     ", which the replacement reads.",
                                 value.name);
            border.insert(before);
        }
    for (const ValueId id : border)
        if (!m_original.isHeld(id) && !isUserInput(m_original, id))
            check.border.push_back(id);
    return Ok{};
}

Status SiteChecks::prepare(const std::vector<SiteSpec>& sites) {
    m_checks.resize(sites.size());
    for (std::size_t i = 0; i < sites.size(); ++i) {
        Check& check = m_checks[i];
        if (auto prepared = prepareOne(sites[i], check); !prepared)
            return prepared;
        check.missing = check.border.size();
        for (const ValueId value : check.border) {
            m_waiting[value].push_back(i);
            ++m_readers[value];
        }
    }
    return Ok{};
}

std::function<Status(ValueId, const at::Tensor&)> SiteChecks::observer() {
    return [this](ValueId value, const at::Tensor& tensor) { return note(value, tensor); };
}

Status SiteChecks::note(ValueId value, const at::Tensor& tensor) {
    const auto waiting = m_waiting.find(value);
    if (waiting == m_waiting.end())
        return Ok{};
    m_values[value] = tensor;
    for (const std::size_t index : waiting->second) {
        Check& check = m_checks[index];
        if (--check.missing > 0)
            continue;
        if (auto compared = compareSite(check); !compared)
            return compared;
        for (const ValueId read : check.border)
            if (--m_readers[read] == 0)
                m_values.erase(read);
    }
    return Ok{};
}

const at::Tensor* SiteChecks::valueOf(ValueId original) const {
    if (const at::Tensor* constant = m_original.constant(original))
        return constant;
    const auto place = m_values.find(original);
    if (place != m_values.end())
        return &place->second;
    const auto& names = m_original.userInputs();
    const auto name = std::find(names.begin(), names.end(), m_original.graph().value(original).name);
    return name == names.end() ? nullptr : &m_originalInputs[static_cast<std::size_t>(name - names.begin())];
}

Status SiteChecks::compareSite(Check& check) {
    const auto given = [&](const std::string& name) -> const at::Tensor* {
        const ValueId value = m_original.find(name);
        return value == kNone ? nullptr : valueOf(value);
    };
    auto outputs = m_rewritten.runNodes(m_rewrittenInputs, check.nodes, given, check.outputs);
    if (!outputs)
        return siteError(check.id, outputs.error().message, outputs.error().where);
    Difference worst;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
        const at::Tensor* expected = valueOf(check.expected[i]);
        const std::string& name = m_original.graph().value(check.expected[i]).name;
        auto difference = compare(*expected, (*outputs)[i], "%" + name + " of site " + check.id);
        if (!difference)
            return difference.error();
        if (i == 0 || difference->relativeError > worst.relativeError)
            worst = *difference;
    }
    check.difference = worst;
    if (onProgress)
        onProgress(++m_done);
    return Ok{};
}

Result<std::vector<Difference>> SiteChecks::finish() {
    std::vector<Difference> differences;
    for (Check& check : m_checks) {
        // A site between constants waits for nothing.
        if (!check.difference && check.border.empty())
            if (auto compared = compareSite(check); !compared)
                return compared.error();
        if (!check.difference)
            return siteError(check.id, "the original program does not compute all values at its border.",
                             check.id);
        differences.push_back(*check.difference);
    }
    return differences;
}

} // namespace workbench
