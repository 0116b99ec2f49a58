#include "runtime/server/text_answer.h"

#include "runtime/server/generation.h"

#include <atomic>
#include <ctime>
#include <random>

namespace workbench {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string freshId(const char* prefix) {
    static const std::uint64_t start = std::uint64_t{std::random_device()()} << 32;
    static std::atomic<std::uint32_t> count = 0;
    return prefix + std::to_string(start + ++count);
}

const char* finishText(FinishReason reason) {
    return reason == FinishReason::length ? "length" : "stop";
}

/// What the answer says of tokens.
struct Usage {
    std::int64_t prompt = 0;
    std::int64_t text = 0;
    std::int64_t reused = 0;

    json toJson() const {
        return {{"prompt_tokens", prompt},
                {"completion_tokens", text},
                {"total_tokens", prompt + text},
                {"prompt_tokens_details", {{"cached_tokens", reused}}}};
    }
};

class TextAnswer {
public:
    explicit TextAnswer(TextJob& job)
        : m_job(job), m_id(freshId(job.shape.idPrefix())), m_created(std::time(nullptr)),
          m_choices(job.requests.size()) {}

    int run() {
        Generation generation(m_job.backend, std::move(m_job.requests), m_job.wanted.stops);
        for (;;) {
            auto next = generation.next({m_job.exchange.connection().socket(), POLLRDHUP, 0});
            if (std::holds_alternative<ClientLeft>(next))
                return leave();
            if (std::holds_alternative<AllEnded>(next))
                return finish();
            if (const auto status = take(std::get<TextStep>(next)))
                return *status;
        }
    }

private:
    struct Choice {
        std::string text;
        std::vector<NamedToken> tokens;
        std::int64_t offset = 0; ///< characters that log-probabilities have been told of
        std::int64_t newTokens = 0;
        const char* finish = nullptr;
    };

    bool streams() const { return m_job.wanted.stream; }

    int leave() {
        m_job.exchange.closeAfter();
        return kClientLeft;
    }

    int fail(const ApiError& error) {
        if (!m_job.exchange.begun()) {
            m_job.exchange.send(toResponse(error));
        } else {
            // Too late for a status: an error event, then the end without [DONE].
            m_job.exchange.closeAfter();
            m_job.exchange.part("data: " + toBody(error) + "\n\n");
            m_job.exchange.end();
        }
        return error.status;
    }

    std::optional<int> take(TextStep step) {
        if (step.end && step.end->error)
            return fail(apiError(*step.end->error));
        if (step.end && step.end->reason == FinishReason::cancelled)
            return fail({503, "The request was cancelled by the server.", "", "cancelled"});
        Choice& choice = m_choices[step.choice];
        if (!m_hasToken && step.token)
            m_job.metrics.addFirstToken(secondsSinceArrival());
        m_hasToken = m_hasToken || step.token;
        if (step.token && m_job.wanted.request.sampling.logprobs) {
            auto named = nameToken(m_job.backend, step.token->sampled);
            if (!named)
                return fail(apiError(named.error()));
            choice.tokens.push_back(std::move(*named));
        }
        if (step.end) {
            choice.finish = finishText(step.end->reason);
            count(step.choice, *step.end);
        }
        choice.text += step.text;
        if (streams() && !streamStep(step.choice))
            return leave();
        return {};
    }

    void count(std::size_t index, const TextEnd& end) {
        m_choices[index].newTokens = end.newTokens;
        m_usage.text += end.newTokens;
        if (index % static_cast<std::size_t>(m_job.wanted.choices) == 0) { // each prompt counts once
            m_usage.prompt += end.promptTokens;
            m_usage.reused += end.reusedTokens;
        }
    }

    json logprobsOf(Choice& choice) {
        if (!m_job.wanted.request.sampling.logprobs || (choice.tokens.empty() && streams()))
            return nullptr;
        return m_job.shape.logprobs(std::exchange(choice.tokens, {}), choice.offset);
    }

    json envelope(json choices, bool isChunk) const {
        return {{"id", m_id},
                {"object", m_job.shape.object(isChunk)},
                {"created", m_created},
                {"model", m_job.backend.model().id},
                {"choices", std::move(choices)}};
    }

    bool event(json choices, const json& usage) {
        json chunk = envelope(std::move(choices), true);
        if (m_job.wanted.streamUsage)
            chunk["usage"] = usage;
        return m_job.exchange.part("data: " + dump(chunk) + "\n\n");
    }

    bool open() {
        http::Response head{200, "text/event-stream; charset=utf-8", {}, {{"Cache-Control", "no-cache"}}};
        bool fine = m_job.exchange.begin(head);
        for (std::size_t i = 0; fine && i < m_choices.size(); ++i)
            if (const json opening = m_job.shape.opening(i); !opening.is_null())
                fine = event(json::array({opening}), nullptr);
        return fine;
    }

    bool streamStep(std::size_t index) {
        Choice& choice = m_choices[index];
        if (!m_job.exchange.begun() && !open())
            return false;
        if (choice.text.empty() && choice.tokens.empty() && !choice.finish)
            return true;
        json logprobs = logprobsOf(choice);
        const std::string text = std::exchange(choice.text, {});
        return event(json::array({m_job.shape.delta(index, text, std::move(logprobs), choice.finish)}),
                     nullptr);
    }

    int finish() {
        m_job.metrics.addTokens(m_usage.prompt, m_usage.text);
        return (streams() ? finishStream() : finishWhole()) ? m_job.exchange.status() : leave();
    }

    bool finishStream() {
        if (m_job.wanted.streamUsage && !event(json::array(), m_usage.toJson()))
            return false;
        return m_job.exchange.part("data: [DONE]\n\n") && m_job.exchange.end();
    }

    bool finishWhole() {
        json choices = json::array();
        for (std::size_t i = 0; i < m_choices.size(); ++i) {
            json logprobs = logprobsOf(m_choices[i]);
            choices.push_back(
                m_job.shape.choice(i, m_choices[i].text, std::move(logprobs), m_choices[i].finish));
        }
        json answer = envelope(std::move(choices), false);
        answer["usage"] = m_usage.toJson();
        return m_job.exchange.send({200, "application/json", dump(answer), {}});
    }

    double secondsSinceArrival() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_job.arrival).count();
    }

    TextJob& m_job;
    const std::string m_id;
    const std::int64_t m_created;
    std::vector<Choice> m_choices;
    Usage m_usage;
    bool m_hasToken = false;
};

} // namespace

int answerText(TextJob job) {
    return TextAnswer(job).run();
}

} // namespace workbench
