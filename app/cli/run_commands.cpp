#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/generate.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <sstream>

namespace workbench::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string perSecond(std::int64_t tokens, double seconds) {
    return seconds > 0 ? fixed(static_cast<double>(tokens) / seconds, 1) + " tokens/s"
                       : std::string("no time at all");
}

Json spreadJson(const Spread& spread) {
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

Json speedJson(const ProgramSpeed& speed) {
    return {{"prefill_tokens_per_s", spreadJson(speed.prefill)},
            {"decode_tokens_per_s", spreadJson(speed.decode)}};
}

void printSpeed(std::ostream& out, const char* name, const Spread& original, const Spread& rewritten) {
    const auto range = [](const Spread& spread) {
        return fixed(spread.median, 1) + " (" + fixed(spread.min, 1) + " to " + fixed(spread.max, 1) + ")";
    };
    out << std::left << std::setw(9) << name << "original " << range(original) << " tokens/s, rewritten "
        << range(rewritten)
        << " tokens/s: " << (original.median > 0 ? fixed(rewritten.median / original.median, 2) : "?")
        << " times\n";
}

} // namespace

Status runGenerate(const Options& options, Context& context) {
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker);
    const auto onText = [&](std::string_view text) { context.out << text << std::flush; };
    auto text = generateText(**opened, runtime, {options.prompt, options.chat, options.maxTokens}, onText,
                             context.job);
    if (!text)
        return text.error();
    context.out << std::endl;
    logProgress("prefill", std::to_string(text->promptTokens) + " tokens, " +
                               perSecond(text->promptTokens, text->prefillSeconds));
    logProgress("decode", std::to_string(text->newTokens) + " tokens, " +
                              perSecond(text->decodedTokens, text->decodeSeconds));
    return Ok{};
}

Status runBench(const Options& options, Context& context) {
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker);
    auto report = benchSession(**opened, runtime, {options.promptTokens, options.newTokens, options.rounds},
                               context.job);
    if (!report)
        return report.error();
    if (options.json) {
        const Json json = {
            {"worker", Json(report->worker)},          {"prompt_tokens", options.promptTokens},
            {"new_tokens", options.newTokens},         {"rounds", options.rounds},
            {"original", speedJson(report->original)}, {"rewritten", speedJson(report->rewritten)}};
        context.out << json.dump(1) << '\n';
        return Ok{};
    }
    context.out << options.promptTokens << " prompt tokens, " << options.newTokens << " new tokens, "
                << options.rounds << " rounds of each in turn, " << report->worker.value("threads", 0)
                << " threads, " << report->worker.value("isa", "") << "; median (min to max)\n";
    printSpeed(context.out, "prefill", report->original.prefill, report->rewritten.prefill);
    printSpeed(context.out, "decode", report->original.decode, report->rewritten.decode);
    return Ok{};
}

} // namespace workbench::cli
