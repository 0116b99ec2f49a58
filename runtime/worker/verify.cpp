#include "runtime/program/comparison.h"
#include "runtime/worker/site_check.h"
#include "runtime/worker/tokens.h"
#include "runtime/worker/workshop.h"

namespace workbench {
namespace {

Json toJson(const Difference& difference) {
    return {{"max_abs_error", difference.maxAbsError},
            {"max_abs", difference.maxAbs},
            {"relative_error", difference.relativeError}};
}

Result<std::vector<SiteSpec>> sitesFromJson(const Json& params) {
    auto list = optional<std::vector<Json>>(params, "sites", {});
    if (!list)
        return list.error();
    std::vector<SiteSpec> sites;
    for (const Json& json : *list) {
        auto id = required<std::string>(json, "id");
        auto nodes = required<std::vector<std::string>>(json, "nodes");
        auto outputs = required<std::vector<std::string>>(json, "outputs");
        if (const Error* error = firstError(id, nodes, outputs))
            return *error;
        sites.push_back({std::move(*id), std::move(*nodes), std::move(*outputs)});
    }
    return sites;
}

Result<Json> compareGreedy(const at::Tensor& original, const at::Tensor& rewritten) {
    auto before = greedyChoices(original);
    auto after = greedyChoices(rewritten);
    if (!before || !after)
        return before ? after.error() : before.error();
    Json differences = Json::array();
    for (std::size_t row = 0; row < before->size(); ++row)
        if ((*before)[row].token != (*after)[row].token)
            differences.push_back({{"row", row},
                                   {"original", (*before)[row].token},
                                   {"rewritten", (*after)[row].token},
                                   {"top2_gap", (*before)[row].gap}});
    return Json{{"rows", before->size()},
                {"equal", before->size() - differences.size()},
                {"differences", differences}};
}

} // namespace

Result<Reply> Workshop::verify(const Request& request) {
    auto original = model(request, "original");
    auto rewritten = model(request, "rewritten");
    if (!original || !rewritten)
        return original ? rewritten.error() : original.error();
    auto batch = tokenBatch(request.params());
    auto sites = sitesFromJson(request.params());
    if (!batch || !sites)
        return batch ? sites.error() : batch.error();
    auto inputs = (*original)->inputsFor(*batch);
    auto inputsAfter = (*rewritten)->inputsFor(*batch);
    if (!inputs || !inputsAfter)
        return inputs ? inputsAfter.error() : inputs.error();

    SiteChecks checks((*original)->program(), (*rewritten)->program(), *inputs, *inputsAfter);
    checks.onProgress = [&](std::size_t done) {
        request.progress("sites", static_cast<std::int64_t>(done), static_cast<std::int64_t>(sites->size()));
    };
    if (auto prepared = checks.prepare(*sites); !prepared)
        return prepared.error();
    auto before = (*original)->logits(*batch, {.cancel = &request.cancelled(), .observe = checks.observer()});
    if (!before)
        return before.error();
    auto differences = checks.finish();
    if (!differences)
        return differences.error();
    auto after = (*rewritten)->logits(*batch, {.cancel = &request.cancelled()});
    if (!after)
        return after.error();

    auto endToEnd = compare(*before, *after, "The logits");
    if (endToEnd && endToEnd->maxAbs == 0)
        return Error{ErrorCode::requirementFailed,
                     "All logits of the original are 0, so that nothing is proven: are its weights whole?",
                     {}};
    auto greedy = endToEnd ? compareGreedy(*before, *after) : endToEnd.error();
    if (!endToEnd || !greedy)
        return endToEnd ? greedy.error() : endToEnd.error();
    Reply reply{{{"sites", Json::array()}, {"end_to_end", toJson(*endToEnd)}, {"greedy", *greedy}}};
    for (std::size_t i = 0; i < sites->size(); ++i) {
        Json entry = toJson((*differences)[i]);
        entry["id"] = (*sites)[i].id;
        reply.result["sites"].push_back(std::move(entry));
    }
    return reply;
}

} // namespace workbench
