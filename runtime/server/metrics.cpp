#include "runtime/server/metrics.h"

#include <sstream>

namespace workbench {
namespace {

std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

std::string head(const std::string& name, const char* type, const std::string& help) {
    return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

std::string counter(const std::string& name, const std::string& help, const std::string& value) {
    return head(name, "counter", help) + name + " " + value + "\n";
}

std::string gauge(const std::string& name, const std::string& help, std::int64_t value) {
    return head(name, "gauge", help) + name + " " + std::to_string(value) + "\n";
}

std::string engineText(const BackendStats& engine) {
    const auto count = [](const char* name, const char* help, std::int64_t value) {
        return counter(std::string("workbench_engine_") + name, help, std::to_string(value));
    };
    return gauge("workbench_engine_running", "Requests that are computed side by side.", engine.running) +
           gauge("workbench_engine_waiting", "Requests that wait for their first step.", engine.waiting) +
           gauge("workbench_kv_blocks", "Blocks of the KV cache.", engine.blocks) +
           gauge("workbench_kv_blocks_free", "Blocks that no request holds.", engine.freeBlocks) +
           count("finished_total", "Texts that came to their end.", engine.finished) +
           count("cancelled_total", "Texts that were cancelled.", engine.cancelled) +
           count("failed_total", "Texts that failed.", engine.failed) +
           count("refused_total", "Texts that were not taken.", engine.refused) +
           count("preemptions_total", "Times that a text gave up its blocks.", engine.preemptions) +
           count("reused_tokens_total", "Tokens found in the KV cache.", engine.reusedTokens) +
           count("computed_tokens_total", "Tokens computed.", engine.computedTokens) +
           count("new_tokens_total", "Tokens chosen.", engine.newTokens) +
           count("steps_total", "Steps.", engine.steps) +
           counter("workbench_engine_step_seconds_total", "Time of all steps.", number(engine.stepSeconds)) +
           counter("workbench_engine_model_seconds_total", "Of these, inside of the model.",
                   number(engine.modelSeconds));
}

} // namespace

void Histogram::add(double seconds) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && seconds > kBounds[bucket])
        ++bucket;
    ++m_counts[bucket];
    m_sum += seconds;
}

std::string Histogram::text(const std::string& name, const std::string& help) const {
    std::string lines = head(name, "histogram", help);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < m_counts.size(); ++i) {
        sum += m_counts[i];
        const std::string bound = i < kBounds.size() ? number(kBounds[i]) : "+Inf";
        lines += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(sum) + "\n";
    }
    return lines + name + "_sum " + number(m_sum) + "\n" + name + "_count " + std::to_string(sum) + "\n";
}

void Metrics::addRequest(const std::string& endpoint, int status, double seconds) {
    const std::lock_guard lock(m_mutex);
    ++m_requests[{endpoint, status}];
    m_seconds.add(seconds);
}

void Metrics::addFirstToken(double seconds) {
    const std::lock_guard lock(m_mutex);
    m_firstToken.add(seconds);
}

void Metrics::addTokens(std::int64_t prompt, std::int64_t text) {
    const std::lock_guard lock(m_mutex);
    m_promptTokens += prompt;
    m_textTokens += text;
}

std::string Metrics::text(std::int64_t inFlight, const std::optional<BackendStats>& engine) const {
    const std::lock_guard lock(m_mutex);
    std::string lines =
        head("workbench_requests_total", "counter", "Answered requests by endpoint and status.");
    for (const auto& [key, count] : m_requests)
        lines += "workbench_requests_total{endpoint=\"" + key.first + "\",status=\"" +
                 std::to_string(key.second) + "\"} " + std::to_string(count) + "\n";
    lines +=
        gauge("workbench_requests_in_flight", "Generating requests that are not answered yet.", inFlight);
    lines += m_seconds.text("workbench_request_seconds", "From a request's head to the end of its answer.");
    lines += m_firstToken.text("workbench_time_to_first_token_seconds",
                               "From the end of a request to its first token.");
    lines += counter("workbench_prompt_tokens_total", "Tokens of prompts.", std::to_string(m_promptTokens));
    lines += counter("workbench_generated_tokens_total", "Tokens of texts.", std::to_string(m_textTokens));
    return engine ? lines + engineText(*engine) : lines;
}

} // namespace workbench
