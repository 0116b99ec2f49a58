#include "app/cli/bench_options.h"

#include "app/cli/option_kinds.h"

namespace workbench::cli {
namespace {

constexpr const char* kTrace = "trace:";

bool isLoad(const std::string& text) {
    return text.starts_with(kTrace) ? text.size() > 6 : loadKindFromName(text).has_value() && text != "trace";
}

} // namespace

void addLoadOptions(CLI::App& app, Options& options) {
    app.add_option("--prompt-tokens", options.load.promptTokens, "Length of each prompt")
        ->capture_default_str()
        ->check(wholeNumber(1));
    app.add_option("--new-tokens", options.load.newTokens, "New tokens of each request")
        ->capture_default_str()
        ->check(wholeNumber(1));
    app.add_option("--rounds", options.load.rounds, "Rounds of each program")
        ->capture_default_str()
        ->check(wholeNumber(1));
}

void addBenchOptions(CLI::App& app, Options& options) {
    addLoadOptions(app, options);
    app.add_option("--load", options.loadKind,
                   "single, decode (8 -> 128 tokens), prefill (512 -> 1), mixed (16 requests at once, 64 -> "
                   "64 each) or "
                   "trace FILE (JSON lines with arrival_s, prompt_tokens, new_tokens)")
        ->capture_default_str()
        ->check(CLI::Validator(
            [](std::string& text) {
                return isLoad(text) ? std::string()
                                    : "'" + text + "' is none of single, decode, prefill, mixed, trace FILE";
            },
            ""));
    app.add_option("--concurrency", options.load.concurrency, "Requests at once")->check(wholeNumber(1));
    app.add_option("--prompts", options.prompts, "File with a prompt a line, instead of made-up tokens")
        ->excludes("--prompt-tokens")
        ->excludes("--concurrency");
    addSwitch(app, "--eager", options.eager, "Also transformers, which loads the weights once more");
    addSwitch(app, "--leave-one-out", options.leaveOneOut, "Also measure without each of the patterns");
    addSwitch(app, "--json", options.json, "One JSON object on stdout");
    app.add_option("--report", options.report, "Write the measurement with pictures as one HTML file");
}

Status completeBenchOptions(const CLI::App& app, Options& options) {
    const auto given = [&](const char* name) { return app.get_option(name)->count() > 0; };
    const bool trace = options.loadKind.starts_with(kTrace);
    BenchLoad load = loadOf(trace ? LoadKind::trace : *loadKindFromName(options.loadKind));
    load.rounds = options.load.rounds;
    if (given("--prompt-tokens"))
        load.promptTokens = options.load.promptTokens;
    if (given("--new-tokens"))
        load.newTokens = options.load.newTokens;
    if (given("--concurrency"))
        load.concurrency = options.load.concurrency;
    options.load = load;
    if (given("--prompts") && load.concurrency > 1)
        return Error{ErrorCode::usage,
                     "--prompts and --load mixed do not go together: prompts are measured one at a time",
                     {}};
    if (!trace)
        return Ok{};
    options.traceFile = options.loadKind.substr(std::string(kTrace).size());
    for (const char* size : {"--prompt-tokens", "--new-tokens", "--concurrency", "--prompts"})
        if (given(size))
            return Error{ErrorCode::usage,
                         std::string(size) +
                             " and --load trace do not go together: the file says what arrives",
                         {}};
    return Ok{};
}

std::vector<std::string> joinTraceFile(const std::vector<std::string>& words) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool isFile = joined.size() >= 2 && joined.back() == "trace" &&
                            joined[joined.size() - 2] == "--load" && !words[i].starts_with("-");
        if (isFile)
            joined.back() = kTrace + words[i];
        else
            joined.push_back(words[i]);
    }
    return joined;
}

} // namespace workbench::cli
