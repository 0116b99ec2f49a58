#include "app/cli/option_groups.h"

#include "app/cli/option_kinds.h"

#include <algorithm>

namespace workbench::cli {
namespace {

std::vector<std::string> dtypeNames() {
    std::vector<std::string> names;
    for (const auto& [name, dtype] : kTraceDtypes)
        names.emplace_back(name);
    return names;
}

} // namespace

void addModel(CLI::App& app, OptionValues& values, bool required) {
    Options& options = values.options;
    values.ofWindow.insert({
        app.add_option("MODEL", options.model, "Directory, .pt2 archive or org/name[@revision]")
            ->required(required),
        app.add_option_function<std::string>(
               "--dtype",
               [&options](const std::string& name) { options.trace.dtype = *traceDtypeFromName(name); },
               "Compute in f32, bf16 or the checkpoint's own type (auto)")
            ->check(CLI::IsMember(dtypeNames())),
        addSwitch(app, "--trust-remote-code", options.trace.trustRemoteCode,
                  "Run the Python code that the model brings"),
        app.add_option_function<std::int64_t>(
               "--time-limit",
               [&options](std::int64_t seconds) {
                   options.trace.timeLimit = std::min(std::chrono::seconds(seconds), kLongestTimeLimit);
               },
               "Seconds after which tracing is given up (0: never)")
            ->check(wholeNumber(0)),
    });
}

void addDecisions(CLI::App& app, OptionValues& values) {
    app.add_option("--plan", values.options.plan, "Start from the decisions of a saved plan");
    addSwitch(app, "--apply-all", values.applyAll, "Apply every site");
    addRepeatable(app, "--apply", values.apply, "Apply a pattern or site (glob); later options win");
    addRepeatable(app, "--reject", values.reject, "Reject a pattern or site (glob); later options win");
}

void addWorker(CLI::App& app, OptionValues& values) {
    CLI::Option* worker = app.add_option("--worker", values.options.worker,
                                         "Command of the worker, such as \"ssh gpubox workbench-worker\"");
    app.add_option(
           "--worker-model", values.options.workerModel,
           "The model's directory where that worker runs, when it has another name there or no weights here")
        ->needs(worker);
    app.add_option("--device", values.options.device,
                   "Where the worker computes: cpu, cuda (its first GPU) or cuda:N")
        ->capture_default_str();
}

void addWeights(CLI::App& app, OptionValues& values) {
    app.add_option("--weights", values.options.weights,
                   "Keep the weights of products as they are stored, in 8 bits with a scale for each row "
                   "(int8), or in 4 bits with one for each 32 columns (int4); routers, untied embeddings and "
                   "matrices stored [inputs, outputs] stay as they are, the last with a warning")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>(kWeightFormats.begin(), kWeightFormats.end())));
}

} // namespace workbench::cli
