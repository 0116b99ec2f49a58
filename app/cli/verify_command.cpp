#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/cli/report.h"
#include "app/session/number_text.h"
#include "app/session/product_weights.h"
#include "app/session/verify.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

namespace workbench::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string scientific(double value) {
    std::ostringstream text;
    text << std::scientific << std::setprecision(1) << value;
    return text.str();
}

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json proofJson(const PlanProof& proof) {
    return {{"max_abs_error", number(proof.maxAbsError)},
            {"relative_error", number(proof.relativeError)},
            {"tolerance", number(proof.tolerance)},
            {"passed", proof.passed}};
}

/// As QualityLoss has them; likelihoods in nats per token.
Json lossJson(const QualityLoss& loss) {
    Json json = {{"rows", loss.rows},
                 {"relative_error", loss.relativeError},
                 {"kl_divergence", loss.divergence},
                 {"greedy_equal", loss.greedyEqual}};
    if (loss.text)
        json["text"] = {{"tokens", loss.text->tokens},
                        {"stored_nll", loss.text->stored},
                        {"quantised_nll", loss.text->quantised}};
    return json;
}

Json reportJson(const VerifyReport& report) {
    Json sites = Json::array();
    for (const SiteProof& site : report.sites)
        sites.push_back({{"id", site.id},
                         {"error", number(site.proof.relativeError)},
                         {"tolerance", number(site.proof.tolerance)},
                         {"passed", site.proof.passed}});
    Json json = {{"proof", report.kind},
                 {"weights", report.weights},
                 {"dtype", report.dtype},
                 {"sequences", report.lengths},
                 {"sites", std::move(sites)},
                 {"unproven", report.unproven},
                 {"logits", proofJson(report.endToEnd)},
                 {"greedy",
                  {{"tokens", report.greedy.tokens},
                   {"differences", report.greedy.differences},
                   {"excused", report.greedy.excused}}},
                 {"passed", report.passed}};
    if (!report.products.empty())
        json["products"] = Json(report.products);
    if (report.truth)
        json["truth"] = {{"original", number(report.truth->original)},
                         {"rewritten", number(report.truth->rewritten)}};
    if (report.engine)
        json["engine"] = {{"relative_error", number(report.engine->relativeError)},
                          {"tolerance", number(report.engine->tolerance)},
                          {"passed", report.engine->passed}};
    else
        json["engine"] = {{"available", false}, {"reason", report.engineReason}};
    if (report.loss)
        json["loss"] = lossJson(*report.loss);
    else if (!report.lossReason.empty())
        json["loss"] = {{"available", false}, {"reason", report.lossReason}};
    return json;
}

struct PatternErrors {
    std::size_t sites = 0;
    std::size_t failed = 0;
    double worst = 0;
};

/// The worst error of each pattern; sites out of tolerance by name.
void printSiteErrors(std::ostream& out, const VerifyReport& report) {
    std::map<std::string, PatternErrors> patterns;
    for (const SiteProof& site : report.sites) {
        PatternErrors& errors = patterns[site.id.substr(0, site.id.find('@'))];
        ++errors.sites;
        errors.failed += !site.proof.passed;
        const bool isWorse = !(site.proof.relativeError <= errors.worst); // NaN is the worst of all
        errors.worst = isWorse ? site.proof.relativeError : errors.worst;
    }
    for (const auto& [pattern, errors] : patterns)
        out << std::left << std::setw(14) << pattern << std::right << std::setw(5) << errors.sites
            << " sites, largest relative error " << scientific(errors.worst)
            << (errors.failed ? ", " + std::to_string(errors.failed) + " OUT OF TOLERANCE" : "") << '\n';
    for (const SiteProof& site : report.sites)
        if (!site.proof.passed)
            out << "  " << site.id << ": relative error " << scientific(site.proof.relativeError)
                << ", tolerance " << scientific(site.proof.tolerance) << '\n';
    for (const std::string& id : report.unproven)
        out << "  " << id << ": not proven, the reduced-size model does not have it\n";
}

void printLogits(std::ostream& out, const VerifyReport& report) {
    out << "logits: ";
    if (report.truth)
        out << "error against f32 " << scientific(report.truth->rewritten) << ", the original's "
            << scientific(report.truth->original) << ", at most " << scientific(report.endToEnd.tolerance)
            << " is allowed";
    else
        out << "relative error " << scientific(report.endToEnd.relativeError) << ", tolerance "
            << scientific(report.endToEnd.tolerance);
    out << (report.endToEnd.passed ? "\n" : "  OUT OF TOLERANCE\n");
}

/// The same logits as `serve` and `generate` come to them.
void printEngine(std::ostream& out, const VerifyReport& report) {
    if (!report.engine)
        out << "from the engine: not available, " << report.engineReason << '\n';
    else
        out << "from the engine: " << (report.truth ? "error against f32 " : "relative error ")
            << scientific(report.engine->relativeError) << ", at most "
            << scientific(report.engine->tolerance) << " is allowed"
            << (report.engine->passed ? "\n" : "  OUT OF TOLERANCE\n");
}

void printGreedy(std::ostream& out, const VerifyReport& report) {
    const GreedyComparison& greedy = report.greedy;
    out << "greedy text: ";
    if (greedy.differences == 0)
        out << greedy.tokens << " tokens, equal\n";
    else
        out << "differs at token " << greedy.tokens
            << (greedy.excused          ? ", where the best two logits are closer than the tolerance\n"
                : report.dtype != "f32" ? ", which rounding to " + report.dtype + " may do\n"
                                        : std::string("\n"));
}

/// What is not in fewer bits, by program, though fewer bits were asked for.
void printProducts(std::ostream& out, const VerifyReport& report) {
    for (const auto& [program, products] : report.products.items())
        if (const std::string text = describeProducts(products, report.weights); !text.empty())
            out << program << ": " << text << '\n';
}

/// What the quantised weights cost: no part of the proof.
void printLoss(std::ostream& out, const VerifyReport& report) {
    if (!report.lossReason.empty())
        out << report.weights << " against the weights as stored: not available, " << report.lossReason
            << '\n';
    if (!report.loss)
        return;
    const QualityLoss& loss = *report.loss;
    out << report.weights << " against the weights as stored: logits " << scientific(loss.relativeError)
        << " of their size apart (root mean squares), next tokens " << scientific(loss.divergence)
        << " nats (mean KL divergence), " << loss.greedyEqual << " of " << loss.rows
        << " greedy tokens equal";
    if (loss.text)
        out << ", the text's " << loss.text->tokens << " tokens " << fixed(loss.text->quantised, 4)
            << " nats each instead of " << fixed(loss.text->stored, 4) << " (perplexity "
            << fixed(std::exp(loss.text->quantised), 2) << " instead of "
            << fixed(std::exp(loss.text->stored), 2) << ")";
    out << '\n';
}

void printReport(std::ostream& out, const VerifyReport& report) {
    std::string lengths;
    for (const std::int64_t length : report.lengths)
        lengths += (lengths.empty() ? "" : " + ") + std::to_string(length);
    out << "compared on "
        << (report.kind == "weights" ? "the model's weights" : "random weights at a reduced size")
        << (report.weights == kStoredWeights ? "" : " in " + report.weights) << ", " << report.dtype
        << ", packed sequences of " << lengths << " tokens\n";
    printSiteErrors(out, report);
    printLogits(out, report);
    printEngine(out, report);
    printGreedy(out, report);
    printProducts(out, report);
    printLoss(out, report);
    out << (report.passed ? "verified\n" : "NOT verified\n");
}

bool nothingApplied(const Session& session) {
    const Decisions& decisions = session.decisions();
    return std::none_of(decisions.begin(), decisions.end(),
                        [](const auto& entry) { return entry.second == Decision::apply; });
}

Error failure(const VerifyReport& report) {
    std::string what;
    const auto failed = std::find_if(report.sites.begin(), report.sites.end(),
                                     [](const auto& site) { return !site.proof.passed; });
    if (failed != report.sites.end())
        what = failed->id + " has a relative error of " + scientific(failed->proof.relativeError) +
               ", tolerance " + scientific(failed->proof.tolerance);
    else if (!report.unproven.empty())
        what = report.unproven.front() + " could not be proven at a reduced size";
    else if (!report.endToEnd.passed)
        what = "the logits have a relative error of " + scientific(report.endToEnd.relativeError) +
               ", tolerance " + scientific(report.endToEnd.tolerance);
    else if (report.engine && !report.engine->passed)
        what = "as the engine runs it, the logits have a relative error of " +
               scientific(report.engine->relativeError) + ", tolerance " +
               scientific(report.engine->tolerance);
    else
        what = "the greedy text differs at token " + std::to_string(report.greedy.tokens);
    return {ErrorCode::requirementFailed, "the rewritten model is not verified: " + what, {}};
}

} // namespace

Status runVerify(const Options& options, Context& context) {
    for (const auto* file : {&options.dumpLogits, &options.exportPlan})
        if (auto writable = checkWritableFile(*file, options.model); !writable)
            return writable;
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Session& session = **opened;
    Runtime runtime(context.locations, options.worker, options.workerModel, options.weights, options.device);
    runtime.setNotices([](const std::string& notice) { logWarning(notice); });
    if (nothingApplied(session))
        logWarning(
            "nothing is applied: the model is compared with itself; use --apply-all, --apply or --plan");
    auto report =
        verifySession(session, runtime, {options.tokens, options.text, options.dumpLogits}, context.job);
    if (!report)
        return report.error();
    if (options.json)
        context.out << reportJson(*report).dump(1) << '\n';
    else
        printReport(context.out, *report);
    if (!options.exportPlan.empty()) {
        auto plan = session.plan();
        if (!plan)
            return plan.error();
        if (auto written = writePlan(*plan, options.exportPlan); !written)
            return written;
    }
    if (!report->passed)
        return failure(*report);
    return Ok{};
}

} // namespace workbench::cli
