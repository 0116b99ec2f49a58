#include "app/cli/command_list.h"

#include "app/cli/bench_options.h"
#include "app/cli/option_groups.h"
#include "app/cli/option_kinds.h"
#include "app/cli/serve_options.h"

namespace workbench::cli {
namespace {

void addPlanOptions(CLI::App& app, OptionValues& values) {
    Options& options = values.options;
    addModel(app, values, false);
    addDecisions(app, values);
    app.add_option("--export", options.exportPlan, "Write the plan (JSON)");
    app.add_option("--export-source", options.exportSource,
                   "Write each rewritten forward as source and diff into a folder");
    app.add_option("--export-pt2", options.exportPt2,
                   "Write the rewritten program as a torch.export archive");
    addRepeatable(app, "--require", values.requirements,
                  "Fail unless PATTERN=N or PATTERN>=N sites are fused (found, when nothing is decided)");
    addSwitch(app, "--dry-run", options.dryRun, "Write nothing");
    values.ofWindow.insert(
        app.add_option("--screenshots", options.screenshots,
                       "Write pictures of the window with each panel into a folder, without a display"));
}

/// The window may open without a model; the report may not.
Status completePlan(const CLI::App&, Options& options) {
    if (options.model.empty())
        return Error{ErrorCode::usage, "MODEL is missing, see `workbench --help`", {}};
    return Ok{};
}

/// What every command takes that computes with the model's own weights.
void addRun(CLI::App& app, OptionValues& values) {
    addModel(app, values, true);
    addDecisions(app, values);
    addWorker(app, values);
    addWeights(app, values);
}

void addInspectOptions(CLI::App& app, OptionValues& values) {
    addModel(app, values, true);
    addDecisions(app, values);
    addSwitch(app, "--json", values.options.json, "One JSON object on stdout");
}

void addPatternsOptions(CLI::App& app, OptionValues& values) {
    app.add_option("--explain", values.options.explain, "Formula, sketch and refusals of one pattern");
}

void addVerifyOptions(CLI::App& app, OptionValues& values) {
    Options& options = values.options;
    addRun(app, values);
    CLI::Option* tokens =
        app.add_option("--tokens", options.tokens, "Token ids (5,17,3) or a file with one sequence a line");
    app.add_option("--text", options.text,
                   "A file with text, of which the first 2048 tokens are taken in sequences of 512")
        ->excludes(tokens);
    app.add_option("--dump-logits", options.dumpLogits,
                   "Write logits `original` and `rewritten` as safetensors");
    app.add_option("--export", options.exportPlan, "Write the plan with its proofs (JSON)");
    addSwitch(app, "--json", options.json, "One JSON object on stdout");
}

Status completeVerify(const CLI::App&, Options& options) {
    if (options.weights != kStoredWeights && !options.exportPlan.empty())
        return Error{ErrorCode::usage,
                     "--export and --weights " + options.weights +
                         " do not go together: a plan's proofs are about the weights as they are stored",
                     {}};
    return Ok{};
}

void addGenerateOptions(CLI::App& app, OptionValues& values) {
    Options& options = values.options;
    addRun(app, values);
    addRepeatable(app, "--prompt", options.texts, "The text to continue; of several, all side by side")
        ->required();
    addSwitch(app, "--chat", options.chat, "Put each prompt into the model's chat template");
    addRepeatable(app, "--stop", options.stops, "End a text before this one");
    app.add_option("--max-tokens", options.maxTokens, "At most this many new tokens")
        ->capture_default_str()
        ->check(wholeNumber(1));
}

void addServingOptions(CLI::App& app, OptionValues& values) {
    addRun(app, values);
    addServeOptions(app, values.options.serve);
}

void addMeasuringOptions(CLI::App& app, OptionValues& values) {
    addRun(app, values);
    addBenchOptions(app, values.options);
}

void addBisectOptions(CLI::App& app, OptionValues& values) {
    addModel(app, values, true);
    addDecisions(app, values);
    addWorker(app, values);
    app.add_option("--by", values.options.bisectBy, "What goes wrong: numbers or speed")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>{"numbers", "speed"}));
    addLoadOptions(app, values.options);
    addSwitch(app, "--json", values.options.json, "One JSON object on stdout");
}

void addRenderOptions(CLI::App& app, OptionValues& values) {
    Options& options = values.options;
    addModel(app, values, true);
    addDecisions(app, values);
    app.add_option("--scope", options.scope, "The module to draw, such as model.layers.0 (the whole model)");
    addRepeatable(app, "--expand", options.expand,
                  "Open a module in place; a folded row as model.layers.0-27, \"*\" for all");
    addSwitch(app, "--rewritten", options.drawRewritten, "Draw the graph after the rewrites");
    app.add_option(
           "--overlay", options.overlay,
           "Colour by bytes of weights, by the error that --plan has of each site, by its gain, or by "
           "the time of each node")
        ->check(CLI::IsMember(std::vector<std::string>{"weights", "error", "gain", "time"}));
    app.add_option("--measurement", options.measurement,
                   "For --overlay time: FILE that `bench --json` wrote; for gain, with --leave-one-out")
        ->check(CLI::ExistingFile);
    app.add_option_function<std::string>(
           "--theme", [&options](const std::string& theme) { options.dark = theme == "dark"; },
           "light or dark")
        ->default_str("light")
        ->check(CLI::IsMember(std::vector<std::string>{"light", "dark"}));
    app.add_option("-o,--output", options.picture, "The picture: FILE.svg or FILE.png")
        ->required()
        ->check(CLI::Validator(
            [](std::string& file) {
                return file.ends_with(".svg") || file.ends_with(".png")
                           ? std::string()
                           : "'" + file + "' ends in neither .svg nor .png";
            },
            ""));
}

Status completeRender(const CLI::App&, Options& options) {
    if (options.overlay == "gain" && options.measurement.empty())
        return Error{ErrorCode::usage,
                     "--overlay gain needs --measurement FILE, from `bench --leave-one-out --json`",
                     {}};
    if (options.overlay == "time" && options.measurement.empty())
        return Error{ErrorCode::usage, "--overlay time needs --measurement FILE, from `bench --json`", {}};
    if (options.overlay == "error" && options.plan.empty())
        return Error{ErrorCode::usage, "--overlay error needs --plan FILE with the proofs of its sites", {}};
    return Ok{};
}

void addPlanDiffOptions(CLI::App& app, OptionValues& values) {
    app.add_option("A", values.options.diffA, "The earlier plan")->required();
    app.add_option("B", values.options.diffB, "The later plan")->required();
}

void addNoOptions(CLI::App&, OptionValues&) {}

void addWindowOptions(CLI::App& app, OptionValues& values) {
    addModel(app, values, false);
    app.add_option("--plan", values.options.plan, "Start from the decisions of a saved plan");
    addWorker(app, values);
    app.add_option("--screenshots", values.options.screenshots,
                   "Write pictures of each panel into a folder instead, without a display");
}

} // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> all = {
        {"", "Finds the fusions of a language model, applies them, proves them and exports them as a plan.",
         runPlan, addPlanOptions, completePlan},
        {"inspect", "Module tree, coverage, every site with its verdict, near misses", runInspect,
         addInspectOptions},
        {"patterns", "What each pattern is", runPatterns, addPatternsOptions},
        {"verify", "Prove that the rewritten model gives the same numbers", runVerify, addVerifyOptions,
         completeVerify},
        {"generate", "Generate text with the rewritten model", runGenerate, addGenerateOptions},
        {"serve", "Serve the rewritten model by OpenAI's HTTP API", runServe, addServingOptions},
        {"bench", "Tokens per second of hand-written code, with the plan and without it, interleaved",
         runBench, addMeasuringOptions, completeBenchOptions},
        {"bisect", "Name the applied site, or the pair, that makes numbers or speed go wrong", runBisect,
         addBisectOptions},
        {"render", "Draw a module's graph as a picture, without a display", runRender, addRenderOptions,
         completeRender},
        {"plan-diff", "Compare the decisions of two plans", runPlanDiff, addPlanDiffOptions},
        {"setup", "Create and check the Python and LibTorch environment", runSetup, addNoOptions},
        {"window", "Open the window, with MODEL or as it was left", runWindow, addWindowOptions},
    };
    return all;
}

} // namespace workbench::cli
