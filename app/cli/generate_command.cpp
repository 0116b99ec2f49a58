#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/generate.h"
#include "app/session/number_text.h"

namespace workbench::cli {
namespace {

std::string perSecond(std::int64_t tokens, double seconds) {
    return seconds > 0 ? fixed(static_cast<double>(tokens) / seconds, 1) + " tokens/s"
                       : std::string("no time at all");
}

/// One text comes as it grows, of several each when it and those before it are whole.
class Printer {
public:
    Printer(std::ostream& out, std::size_t texts) : m_out(out), m_texts(texts) {}

    void add(std::size_t index, std::string_view text) {
        if (m_texts.size() > 1)
            m_texts[index] += text;
        else
            m_out << text << std::flush;
    }
    void finish() {
        for (std::size_t i = 0; i < m_texts.size(); ++i)
            m_out << (i > 0 ? "---\n" : "") << m_texts[i] << '\n';
        m_out << std::flush;
    }

private:
    std::ostream& m_out;
    std::vector<std::string> m_texts;
};

void logSpeed(const GeneratedTexts& texts, std::size_t count) {
    logProgress("prefill", std::to_string(texts.promptTokens) + " tokens, " +
                               perSecond(texts.promptTokens, texts.firstTokenSeconds));
    const auto later = texts.newTokens - static_cast<std::int64_t>(count);
    logProgress("decode", std::to_string(texts.newTokens) + " tokens, " +
                              perSecond(later, texts.seconds - texts.firstTokenSeconds));
}

} // namespace

Status runGenerate(const Options& options, Context& context) {
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    auto backend = openTextBackend(**opened,
                                   {options.worker,
                                    options.workerModel,
                                    options.model,
                                    {},
                                    [](const std::string& notice) { logWarning(notice); },
                                    options.weights,
                                    options.device},
                                   context.job);
    if (!backend)
        return backend.error();
    Printer printer(context.out, options.texts.size());
    auto texts = generateTexts(
        **backend, {options.texts, options.chat, options.stops, options.maxTokens},
        [&](std::size_t index, std::string_view text) { printer.add(index, text); }, context.job);
    if (!texts)
        return texts.error();
    printer.finish();
    logSpeed(*texts, options.texts.size());
    return Ok{};
}

} // namespace workbench::cli
