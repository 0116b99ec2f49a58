#include "app/cli/options.h"

#include "app/cli/bench_options.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_codes.h"
#include "app/cli/option_groups.h"
#include "app/cli/option_kinds.h"
#include "fusion/match/pattern.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace workbench::cli {
namespace {

class Parser {
public:
    Parser();
    Parsed parse(int argc, const char* const* argv, bool opensWindow);

private:
    void add(const Command& command);
    Status complete(bool opensWindow);
    Status chooseWindow(bool opensWindow);
    Status checkBeforeCommand(const CLI::App& command) const;
    Status checkOutputs() const;
    void readRules(const CLI::App& app);
    Status readRequirements();

    CLI::App m_app;
    std::map<const CLI::App*, const Command*> m_commands;
    OptionValues m_values;
    Options& m_options = m_values.options;
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
    for (const Command& command : commands())
        add(command);
}

void Parser::add(const Command& command) {
    const bool hasName = *command.name != '\0';
    CLI::App& app = hasName ? *m_app.add_subcommand(command.name) : m_app;
    app.description(command.help);
    m_commands[&app] = &command;
    CLI::Option* quiet = addSwitch(app, "-q,--quiet", m_options.quiet, "No progress on stderr");
    addSwitch(app, "-v,--verbose", m_options.verbose, "Times, every step and where all comes from, on stderr")
        ->excludes(quiet);
    command.addOptions(app, m_values);
}

const Command& windowCommand() {
    return *std::find_if(commands().begin(), commands().end(),
                         [](const Command& command) { return command.run == runWindow; });
}

/// With something to decide, check or write, or to be quiet about, no window is wanted.
Status Parser::chooseWindow(bool opensWindow) {
    const CLI::Option* work = nullptr;
    for (const CLI::Option* option : m_app.parse_order())
        if (!m_values.ofWindow.contains(option))
            work = option;
    if (!m_options.screenshots.empty() && work)
        return Error{ErrorCode::usage,
                     "--screenshots and " + work->get_name() +
                         " do not go together: pictures are taken of MODEL as it is",
                     {}};
    if (!m_options.screenshots.empty() || (opensWindow && !work))
        m_options.command = &windowCommand();
    return Ok{};
}

/// Each occurrence of an option stands in the parse order, which is what "later wins" needs.
void Parser::readRules(const CLI::App& app) {
    std::size_t applied = 0;
    std::size_t rejected = 0;
    for (const CLI::Option* option : app.parse_order()) {
        if (option->check_name("--apply-all"))
            m_options.rules.push_back({Decision::apply, "*"});
        else if (option->check_name("--apply") && applied < m_values.apply.size())
            m_options.rules.push_back({Decision::apply, m_values.apply[applied++]});
        else if (option->check_name("--reject") && rejected < m_values.reject.size())
            m_options.rules.push_back({Decision::reject, m_values.reject[rejected++]});
    }
}

Status Parser::readRequirements() {
    for (const std::string& text : m_values.requirements) {
        auto requirement = parseRequirement(text);
        if (!requirement)
            return requirement.error();
        m_options.requirements.push_back(std::move(requirement).value());
    }
    return Ok{};
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
    m_options.command = m_commands.at(&app);
    if (&app == &m_app)
        if (auto chosen = chooseWindow(opensWindow); !chosen)
            return chosen;
    if (m_options.command->complete)
        if (auto completed = m_options.command->complete(app, m_options); !completed)
            return completed;
    readRules(app);
    return readRequirements();
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
