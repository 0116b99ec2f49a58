#include "app/session/generate.h"

#include "core/support/utf8.h"
#include "runtime/server/generation.h"

#include <algorithm>
#include <chrono>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

Error badInput(const std::string& message, const std::filesystem::path& where = {}) {
    return {ErrorCode::badInput, message, where.string()};
}

Result<Tokens> promptTokens(TextBackend& backend, const std::string& prompt, bool chat) {
    if (!isUtf8(prompt))
        return badInput("the prompt is not UTF-8: give text in that encoding");
    const nlohmann::json messages = nlohmann::json::array({{{"role", "user"}, {"content", prompt}}});
    auto tokens = chat ? backend.chat(messages, nlohmann::json::object()) : backend.encode(prompt);
    if (tokens && tokens->empty())
        return badInput("the prompt has no tokens: give some text");
    return tokens;
}

/// Greedy. Beyond its context a model computes without meaning, or not at all.
Result<TextRequest> requestFor(TextBackend& backend, const std::string& prompt,
                               const GenerateTextRequest& wanted) {
    auto tokens = promptTokens(backend, prompt, wanted.chat);
    if (!tokens)
        return tokens.error();
    const std::int64_t room = backend.model().longestTokens - std::ssize(*tokens);
    if (room < 1)
        return badInput("the prompt has " + std::to_string(tokens->size()) +
                        " tokens, but the model's context is " +
                        std::to_string(backend.model().longestTokens) + ": give a shorter one");
    TextRequest request;
    request.prompt = std::move(*tokens);
    request.maxTokens = std::min(wanted.maxTokens, room);
    return request;
}

/// Counts what the steps tell, and hands their text on. An Error ends it.
class Texts {
public:
    explicit Texts(const std::function<void(std::size_t, std::string_view)>& onText) : m_onText(onText) {}

    Status take(const TextStep& step) {
        const double now = std::chrono::duration<double>(Clock::now() - m_start).count();
        if (step.token && m_result.firstTokenSeconds == 0)
            m_result.firstTokenSeconds = now;
        m_result.seconds = now;
        if (step.end && step.end->error)
            return *step.end->error;
        if (step.end) {
            m_result.promptTokens += step.end->promptTokens;
            m_result.newTokens += step.end->newTokens;
        }
        m_onText(step.choice, step.text);
        return Ok{};
    }
    const GeneratedTexts& result() const { return m_result; }

private:
    const std::function<void(std::size_t, std::string_view)>& m_onText;
    const Clock::time_point m_start = Clock::now();
    GeneratedTexts m_result;
};

} // namespace

Status checkRunnable(const TracedModel& model, const char* what) {
    const std::filesystem::path where = model.directory.empty() ? model.archive : model.directory;
    if (!model.runnable)
        return badInput(where.string() +
                            " is no language model program (token ids, positions and rows in, logits "
                            "out): it cannot " +
                            what,
                        where);
    return Ok{};
}

Result<std::unique_ptr<WorkerBackend>> openTextBackend(Session& session, WorkerBackendOptions options,
                                                       const Job& job) {
    const TracedModel& model = session.model();
    if (auto fine = checkRunnable(model, "generate text"); !fine)
        return fine.error();
    if (model.directory.empty() || !session.tracer())
        return badInput(model.archive.string() + " has no tokenizer: text needs a model directory",
                        model.archive);
    if (!model.hasWeights && options.workerModel.empty())
        return badInput(model.directory.string() + " has no weights: text needs them", model.directory);
    return WorkerBackend::create(session, std::move(options), job);
}

Result<GeneratedTexts> generateTexts(TextBackend& backend, const GenerateTextRequest& request,
                                     const std::function<void(std::size_t, std::string_view)>& onText,
                                     const Job& job) {
    std::vector<TextRequest> requests;
    for (const std::string& prompt : request.prompts) {
        auto each = requestFor(backend, prompt, request);
        if (!each)
            return each.error();
        requests.push_back(std::move(*each));
    }
    Texts texts(onText);
    Generation generation(backend, std::move(requests), request.stops);
    for (;;) {
        auto next = generation.next({job.cancel ? job.cancel->fd() : -1, POLLIN, 0});
        if (std::holds_alternative<ClientLeft>(next))
            return cancelledError();
        if (std::holds_alternative<AllEnded>(next))
            return texts.result();
        if (auto fine = texts.take(std::get<TextStep>(next)); !fine)
            return fine.error();
    }
}

} // namespace workbench
