#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/generate.h"

#include <iomanip>
#include <sstream>

namespace workbench::cli {
namespace {

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string perSecond(std::int64_t tokens, double seconds) {
    return seconds > 0 ? fixed(static_cast<double>(tokens) / seconds, 1) + " tokens/s"
                       : std::string("no time at all");
}

} // namespace

Status runGenerate(const Options& options, Context& context) {
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker, options.workerModel);
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

} // namespace workbench::cli
