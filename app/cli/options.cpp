#include "app/cli/options.h"

#include "app/cli/bench_options.h"
#include "app/cli/exit_codes.h"
#include "app/cli/option_kinds.h"
#include "fusion/match/pattern.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace workbench::cli {
namespace {

constexpr std::int64_t kLongestTimeLimit = 365 * 24 * 3600; // seconds; more would not fit into a clock

const std::map<std::string, TraceDtype> kDtypes = {{"auto", TraceDtype::automatic},
                                                   {"f32", TraceDtype::f32},
                                                   {"float32", TraceDtype::f32},
                                                   {"bf16", TraceDtype::bf16},
                                                   {"bfloat16", TraceDtype::bf16}};

/// Builds the parser. Repeated options land here first, since their order across options is only known after
/// the parse.
class Parser {
public:
    Parser();
    Parsed parse(int argc, const char* const* argv, bool opensWindow);

private:
    void addCommon(CLI::App& app);
    void addModel(CLI::App& app, bool required);
    void addDecisions(CLI::App& app);
    void addWorker(CLI::App& app);
    void addWeights(CLI::App& app);
    void addExports(CLI::App& app);
    void addPlanCommand();
    void addInspect();
    void addPatterns();
    void addVerify();
    void addGenerate();
    void addServe();
    void addBench();
    void addBisect();
    void addRender();
    void addPlanDiff();
    void addSetup();
    void addWindow();
    CLI::App& addCommand(Verb verb, const std::string& name, const std::string& help);
    Status complete(bool opensWindow);
    Status chooseWindow(bool opensWindow);
    Status checkBeforeCommand(const CLI::App& command) const;
    Status checkOutputs() const;
    void readRules(const CLI::App& app);

    CLI::App m_app{
        "Finds the fusions of a language model, applies them, proves them and exports them as a plan."};
    std::map<const CLI::App*, Verb> m_verbs;
    Options m_options;
    std::vector<std::string> m_apply;
    std::vector<std::string> m_reject;
    bool m_applyAll = false;
    std::vector<std::string> m_requirements;
    std::string m_dtype = "auto";
    std::string m_theme = "light";
    std::int64_t m_timeLimit = 0;
};

constexpr const char* kFooter =
    R"(On a desktop, `workbench` and `workbench MODEL` at a terminal open the window; with an option that decides, checks or
writes something, in a pipe, or without a display, the result is printed.

MODEL is a Hugging Face model directory, a directory with only config.json, a .pt2 archive, or
org/name[@revision] (local Hugging Face cache, else downloaded).

Exit codes:
  0 done
  1 a requirement or the verification failed
  2 wrong usage
  3 bad input: missing, broken, unsupported or unwritable
  4 the model could not be traced
  5 the runtime failed
  130 interrupted)";

Parser::Parser() {
    m_app.name("workbench");
    m_app.footer(kFooter);
    m_app.set_version_flag("--version", "workbench " WORKBENCH_VERSION);
    m_app.require_subcommand(0, 1);
    addPlanCommand();
    addInspect();
    addPatterns();
    addVerify();
    addGenerate();
    addServe();
    addBench();
    addBisect();
    addRender();
    addPlanDiff();
    addSetup();
    addWindow();
}

CLI::App& Parser::addCommand(Verb verb, const std::string& name, const std::string& help) {
    CLI::App& app = *m_app.add_subcommand(name, help);
    m_verbs[&app] = verb;
    addCommon(app);
    return app;
}

void Parser::addCommon(CLI::App& app) {
    CLI::Option* quiet = addSwitch(app, "-q,--quiet", m_options.quiet, "No progress on stderr");
    addSwitch(app, "-v,--verbose", m_options.verbose, "Times, every step and where all comes from, on stderr")
        ->excludes(quiet);
}

void Parser::addModel(CLI::App& app, bool required) {
    app.add_option("MODEL", m_options.model, "Directory, .pt2 archive or org/name[@revision]")
        ->required(required);
    app.add_option("--dtype", m_dtype, "Compute in f32, bf16 or the checkpoint's own type (auto)")
        ->check(CLI::IsMember(std::vector<std::string>{"auto", "f32", "bf16", "float32", "bfloat16"}));
    addSwitch(app, "--trust-remote-code", m_options.trace.trustRemoteCode,
              "Run the Python code that the model brings");
    app.add_option("--time-limit", m_timeLimit, "Seconds after which tracing is given up (0: never)")
        ->check(wholeNumber(0));
}

void Parser::addDecisions(CLI::App& app) {
    app.add_option("--plan", m_options.plan, "Start from the decisions of a saved plan");
    addSwitch(app, "--apply-all", m_applyAll, "Apply every site");
    addRepeatable(app, "--apply", m_apply, "Apply a pattern or site (glob); later options win");
    addRepeatable(app, "--reject", m_reject, "Reject a pattern or site (glob); later options win");
}

void Parser::addWorker(CLI::App& app) {
    CLI::Option* worker = app.add_option("--worker", m_options.worker,
                                         "Command of the worker, such as \"ssh gpubox workbench-worker\"");
    app.add_option(
           "--worker-model", m_options.workerModel,
           "The model's directory where that worker runs, when it has another name there or no weights here")
        ->needs(worker);
}

void Parser::addWeights(CLI::App& app) {
    app.add_option("--weights", m_options.weights,
                   "Keep the weights of products as they are stored, in 8 bits with a scale for each row "
                   "(int8), or in 4 bits with one for each 32 columns (int4)")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>(kWeightFormats.begin(), kWeightFormats.end())));
}

void Parser::addExports(CLI::App& app) {
    app.add_option("--export", m_options.exportPlan, "Write the plan (JSON)");
    app.add_option("--export-source", m_options.exportSource,
                   "Write each rewritten forward as source and diff into a folder");
    app.add_option("--export-pt2", m_options.exportPt2,
                   "Write the rewritten program as a torch.export archive");
    addRepeatable(app, "--require", m_requirements,
                  "Fail unless PATTERN=N or PATTERN>=N sites are fused (found, when nothing is decided)");
    addSwitch(app, "--dry-run", m_options.dryRun, "Write nothing");
}

void Parser::addPlanCommand() {
    m_verbs[&m_app] = Verb::plan;
    addCommon(m_app);
    addModel(m_app, false);
    addDecisions(m_app);
    addExports(m_app);
    m_app.add_option("--screenshots", m_options.screenshots,
                     "Write pictures of the window with each panel into a folder, without a display");
}

void Parser::addInspect() {
    CLI::App& app = addCommand(Verb::inspect, "inspect",
                               "Module tree, coverage, every site with its verdict, near misses");
    addModel(app, true);
    addDecisions(app);
    addSwitch(app, "--json", m_options.json, "One JSON object on stdout");
}

void Parser::addPatterns() {
    CLI::App& app = addCommand(Verb::patterns, "patterns", "What each pattern is");
    app.add_option("--explain", m_options.explain, "Formula, sketch and refusals of one pattern");
}

void Parser::addVerify() {
    CLI::App& app =
        addCommand(Verb::verify, "verify", "Prove that the rewritten model gives the same numbers");
    addModel(app, true);
    addDecisions(app);
    addWorker(app);
    addWeights(app);
    CLI::Option* tokens =
        app.add_option("--tokens", m_options.tokens, "Token ids (5,17,3) or a file with one sequence a line");
    app.add_option("--text", m_options.text,
                   "A file with text, of which the first 2048 tokens are taken in sequences of 512")
        ->excludes(tokens);
    app.add_option("--dump-logits", m_options.dumpLogits,
                   "Write logits `original` and `rewritten` as safetensors");
    app.add_option("--export", m_options.exportPlan, "Write the plan with its proofs (JSON)");
    addSwitch(app, "--json", m_options.json, "One JSON object on stdout");
}

void Parser::addGenerate() {
    CLI::App& app = addCommand(Verb::generate, "generate", "Generate text with the rewritten model");
    addModel(app, true);
    addDecisions(app);
    addWorker(app);
    addWeights(app);
    addRepeatable(app, "--prompt", m_options.texts, "The text to continue; of several, all side by side")
        ->required();
    addSwitch(app, "--chat", m_options.chat, "Put each prompt into the model's chat template");
    addRepeatable(app, "--stop", m_options.stops, "End a text before this one");
    app.add_option("--max-tokens", m_options.maxTokens, "At most this many new tokens")
        ->capture_default_str()
        ->check(wholeNumber(1));
}

void Parser::addServe() {
    CLI::App& app = addCommand(Verb::serve, "serve", "Serve the rewritten model by OpenAI's HTTP API");
    addModel(app, true);
    addDecisions(app);
    addWorker(app);
    addWeights(app);
    addServeOptions(app, m_options.serve);
}

void Parser::addBench() {
    CLI::App& app =
        addCommand(Verb::bench, "bench",
                   "Tokens per second of hand-written code, with the plan and without it, interleaved");
    addModel(app, true);
    addDecisions(app);
    addWorker(app);
    addWeights(app);
    addBenchOptions(app, m_options);
}

void Parser::addBisect() {
    CLI::App& app = addCommand(Verb::bisect, "bisect",
                               "Name the applied site, or the pair, that makes numbers or speed go wrong");
    addModel(app, true);
    addDecisions(app);
    addWorker(app);
    app.add_option("--by", m_options.bisectBy, "What goes wrong: numbers or speed")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>{"numbers", "speed"}));
    addLoadOptions(app, m_options);
    addSwitch(app, "--json", m_options.json, "One JSON object on stdout");
}

void Parser::addRender() {
    CLI::App& app =
        addCommand(Verb::render, "render", "Draw a module's graph as a picture, without a display");
    addModel(app, true);
    addDecisions(app);
    app.add_option("--scope", m_options.scope,
                   "The module to draw, such as model.layers.0 (the whole model)");
    addRepeatable(app, "--expand", m_options.expand,
                  "Open a module in place; a folded row as model.layers.0-27, \"*\" for all");
    addSwitch(app, "--rewritten", m_options.drawRewritten, "Draw the graph after the rewrites");
    app.add_option("--overlay", m_options.overlay,
                   "Colour by bytes of weights, by the error that --plan has of each site, or by its gain")
        ->check(CLI::IsMember(std::vector<std::string>{"weights", "error", "gain"}));
    app.add_option("--measurement", m_options.measurement,
                   "For --overlay gain: FILE that `bench --leave-one-out --json` wrote")
        ->check(CLI::ExistingFile);
    app.add_option("--theme", m_theme, "light or dark")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>{"light", "dark"}));
    app.add_option("-o,--output", m_options.picture, "The picture: FILE.svg or FILE.png")
        ->required()
        ->check(CLI::Validator(
            [](std::string& file) {
                return file.ends_with(".svg") || file.ends_with(".png")
                           ? std::string()
                           : "'" + file + "' ends in neither .svg nor .png";
            },
            ""));
}

void Parser::addPlanDiff() {
    CLI::App& app = addCommand(Verb::planDiff, "plan-diff", "Compare the decisions of two plans");
    app.add_option("A", m_options.diffA, "The earlier plan")->required();
    app.add_option("B", m_options.diffB, "The later plan")->required();
}

void Parser::addSetup() {
    addCommand(Verb::setup, "setup", "Create and check the Python and LibTorch environment");
}

void Parser::addWindow() {
    CLI::App& app = addCommand(Verb::window, "window", "Open the window, with MODEL or as it was left");
    addModel(app, false);
    app.add_option("--plan", m_options.plan, "Start from the decisions of a saved plan");
    addWorker(app);
    app.add_option("--screenshots", m_options.screenshots,
                   "Write pictures of each panel into a folder instead, without a display");
}

/// With something to decide, check or write, or to be quiet about, no window is wanted.
Status Parser::chooseWindow(bool opensWindow) {
    const CLI::Option* work = nullptr;
    for (const CLI::Option* option : m_app.parse_order())
        if (!option->check_name("MODEL") && !option->check_name("--dtype") &&
            !option->check_name("--screenshots") && !option->check_name("--trust-remote-code") &&
            !option->check_name("--time-limit"))
            work = option;
    if (!m_options.screenshots.empty() && work)
        return Error{ErrorCode::usage,
                     "--screenshots and " + work->get_name() +
                         " do not go together: pictures are taken of MODEL as it is",
                     {}};
    if (!m_options.screenshots.empty() || (opensWindow && !work))
        m_options.verb = Verb::window;
    return Ok{};
}

/// Each occurrence of an option stands in the parse order, which is what "later wins" needs.
void Parser::readRules(const CLI::App& app) {
    std::size_t applied = 0;
    std::size_t rejected = 0;
    for (const CLI::Option* option : app.parse_order()) {
        if (option->check_name("--apply-all"))
            m_options.rules.push_back({Decision::apply, "*"});
        else if (option->check_name("--apply") && applied < m_apply.size())
            m_options.rules.push_back({Decision::apply, m_apply[applied++]});
        else if (option->check_name("--reject") && rejected < m_reject.size())
            m_options.rules.push_back({Decision::reject, m_reject[rejected++]});
    }
}

/// An option before the command would belong to the plan command, which is not the one that runs: it must not
/// be lost in silence.
Status Parser::checkBeforeCommand(const CLI::App& command) const {
    for (const CLI::Option* option : m_app.parse_order())
        if (&command != &m_app && !option->check_name("--quiet") && !option->check_name("--verbose"))
            return Error{ErrorCode::usage,
                         option->get_name() + " stands before `" + command.get_name() +
                             "`: put it behind the command, see `workbench " + command.get_name() +
                             " --help`",
                         {}};
    return Ok{};
}

/// `--export "$FILE"` without a FILE would write nothing, in silence.
Status checkValues(const CLI::App& command) {
    for (const CLI::Option* option : command.parse_order())
        for (const std::string& value : option->results())
            if (value.empty() && !option->check_name("--prompt"))
                return Error{ErrorCode::usage,
                             option->get_name() + " has an empty value: give one, or leave it out",
                             {}};
    return Ok{};
}

/// Two outputs under one name: the later would replace the earlier.
Status Parser::checkOutputs() const {
    const std::pair<const char*, const std::filesystem::path*> outputs[] = {
        {"--export", &m_options.exportPlan},
        {"--export-source", &m_options.exportSource},
        {"--export-pt2", &m_options.exportPt2},
        {"--dump-logits", &m_options.dumpLogits}};
    std::map<std::filesystem::path, const char*> taken;
    for (const auto& [name, path] : outputs) {
        if (path->empty())
            continue;
        const auto [other, isNew] = taken.emplace(path->lexically_normal(), name);
        if (!isNew)
            return Error{ErrorCode::usage,
                         std::string(other->second) + " and " + name + " both write " + path->string() +
                             ": give each a file of its own",
                         path->string()};
    }
    return Ok{};
}

Status Parser::complete(bool opensWindow) {
    const auto commands = m_app.get_subcommands();
    const CLI::App& app = commands.empty() ? m_app : *commands.front();
    if (auto placed = checkBeforeCommand(app); !placed)
        return placed;
    if (auto given = checkValues(app); !given)
        return given;
    if (auto apart = checkOutputs(); !apart)
        return apart;
    m_options.verb = m_verbs.at(&app);
    if (m_options.verb == Verb::plan)
        if (auto chosen = chooseWindow(opensWindow); !chosen)
            return chosen;
    if (m_options.verb == Verb::plan && m_options.model.empty())
        return Error{ErrorCode::usage, "MODEL is missing, see `workbench --help`", {}};
    if (m_options.verb == Verb::verify && m_options.weights != kStoredWeights &&
        !m_options.exportPlan.empty())
        return Error{ErrorCode::usage,
                     "--export and --weights " + m_options.weights +
                         " do not go together: a plan's proofs are about the weights as they are stored",
                     {}};
    if (m_options.verb == Verb::bench)
        if (auto load = completeBenchOptions(app, m_options); !load)
            return load;
    m_options.trace.dtype = kDtypes.at(m_dtype);
    m_options.dark = m_theme == "dark";
    if (m_options.overlay == "gain" && m_options.measurement.empty())
        return Error{ErrorCode::usage,
                     "--overlay gain needs --measurement FILE, from `bench --leave-one-out --json`",
                     {}};
    if (m_options.overlay == "error" && m_options.plan.empty())
        return Error{ErrorCode::usage, "--overlay error needs --plan FILE with the proofs of its sites", {}};
    m_options.trace.timeLimit = std::chrono::seconds(std::min(m_timeLimit, kLongestTimeLimit));
    readRules(app);
    for (const std::string& text : m_requirements) {
        auto requirement = parseRequirement(text);
        if (!requirement)
            return requirement.error();
        m_options.requirements.push_back(std::move(requirement).value());
    }
    return Ok{};
}

Parsed Parser::parse(int argc, const char* const* argv, bool opensWindow) {
    Parsed parsed;
    try {
        auto words = joinTraceFile({argv + std::min(argc, 1), argv + argc});
        std::reverse(words.begin(), words.end()); // as CLI11 wants them
        m_app.parse(std::move(words));
    } catch (const CLI::ParseError& stopped) {
        std::ostringstream out;
        std::ostringstream err;
        if (m_app.exit(stopped, out, err) == 0) {
            parsed.out = out.str();
            return parsed;
        }
        parsed.err = std::string(stopped.what()) + "; see `workbench --help`";
        parsed.exitCode = exitCode(ErrorCode::usage);
        return parsed;
    }
    if (auto completed = complete(opensWindow); !completed) {
        parsed.err = completed.error().message;
        parsed.exitCode = exitCode(completed.error().code);
        return parsed;
    }
    parsed.run = true;
    parsed.options = std::move(m_options);
    return parsed;
}

} // namespace

Result<Requirement> parseRequirement(const std::string& text) {
    Requirement requirement;
    const std::size_t at = text.find_first_of(">=");
    const std::string sign =
        at == std::string::npos ? "" : text.substr(at, text.compare(at, 2, ">=") == 0 ? 2 : 1);
    const std::string number = at == std::string::npos ? "" : text.substr(at + sign.size());
    requirement.pattern = text.substr(0, at);
    requirement.exact = sign == "=";
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), requirement.count);
    const bool isNumber =
        error == std::errc() && end == number.data() + number.size() && requirement.count >= 0;
    if ((sign != "=" && sign != ">=") || !isNumber)
        return Error{ErrorCode::usage, "--require " + text + " is neither PATTERN=N nor PATTERN>=N", text};
    if (!findPattern(requirement.pattern))
        return Error{ErrorCode::usage, "--require " + text + " names no pattern; there are " + patternNames(),
                     text};
    return requirement;
}

Parsed parse(int argc, const char* const* argv, bool opensWindow) {
    return Parser().parse(argc, argv, opensWindow);
}

} // namespace workbench::cli
