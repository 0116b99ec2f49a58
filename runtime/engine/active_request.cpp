#include "runtime/engine/active_request.h"

#include <algorithm>

namespace workbench {
namespace {

double seconds(ActiveRequest::Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

bool contains(const std::vector<std::int64_t>& tokens, std::int64_t token) {
    return std::ranges::find(tokens, token) != tokens.end();
}

} // namespace

ActiveRequest::ActiveRequest(GenerationRequest request, std::uint64_t seed, Clock::time_point arrival)
    : m_request(std::move(request)), m_sampler(m_request.sampling, m_request.prompt, seed),
      m_matcher(m_request.stop.stopStrings), m_arrival(arrival) {
    m_completion.promptTokens = std::ssize(m_request.prompt);
}

void ActiveRequest::begin(std::int64_t reusedTokens) {
    if (m_begin)
        return;
    m_begin = Clock::now();
    m_completion.queueSeconds = seconds(*m_begin - m_arrival);
    m_completion.reusedTokens = reusedTokens;
}

bool ActiveRequest::isEnd(std::int64_t token) const {
    return contains(m_request.stop.stopIds, token) ||
           (!m_request.stop.ignoreEos && contains(m_request.stop.eos, token));
}

Result<std::string> ActiveRequest::textOf(std::int64_t token) {
    if (!m_request.text)
        return std::string();
    auto piece = m_request.text->push(token);
    if (!piece)
        return piece.error();
    return m_matcher.push(*piece);
}

std::optional<std::int64_t> ActiveRequest::advance(std::span<const float> logits) {
    auto sampled = m_sampler.sample(logits);
    if (!sampled) {
        finish(FinishReason::failed, sampled.error());
        return {};
    }
    const std::int64_t token = sampled->token;
    const auto now = Clock::now();
    if (m_completion.newTokens++ == 0) {
        m_firstToken = now;
        m_completion.prefillSeconds = seconds(now - *m_begin);
    }
    m_completion.decodeSeconds = seconds(now - m_firstToken);
    const bool end = isEnd(token);
    auto text = end ? Result<std::string>(std::string()) : textOf(token);
    if (!text) {
        finish(FinishReason::failed, text.error());
        return {};
    }
    if (m_request.onToken)
        m_request.onToken({std::move(*sampled), std::move(*text)});
    if (end || m_matcher.stopped())
        finish(FinishReason::stop);
    else if (m_completion.newTokens >= m_request.stop.maxTokens)
        finish(FinishReason::length);
    else
        return token;
    return {};
}

Result<std::string> ActiveRequest::restOfText() {
    if (!m_request.text || m_matcher.stopped())
        return std::string();
    auto rest = m_request.text->finish();
    if (!rest)
        return rest.error();
    std::string text = m_matcher.push(*rest);
    return text + m_matcher.finish();
}

void ActiveRequest::finish(FinishReason reason, std::optional<Error> error) {
    if (reason == FinishReason::stop || reason == FinishReason::length) {
        auto rest = restOfText();
        if (rest) {
            m_completion.text = std::move(*rest);
        } else {
            reason = FinishReason::failed;
            error = rest.error();
        }
        if (m_matcher.stopped())
            reason = FinishReason::stop;
    }
    m_completion.reason = reason;
    m_completion.error = std::move(error);
    if (m_request.onFinish)
        m_request.onFinish(m_completion);
}

} // namespace workbench
