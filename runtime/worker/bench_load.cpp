#include "runtime/worker/bench_load.h"

namespace workbench {
namespace {

using Integers = std::vector<std::int64_t>;

/// Bounds of one round: all prompts are in memory at once.
constexpr std::int64_t kMostRequests = 100'000;
constexpr std::int64_t kMostTokens = 16 << 20;
constexpr double kLatestArrival = 86'400; // seconds

Error tooSmall() {
    return Error{ErrorCode::badInput,
                 "A benchmark needs at least one prompt token, one new token, one request and one round.",
                 {}};
}

Result<std::vector<benchmark::RequestSize>> traceSizes(const std::vector<Json>& requests) {
    std::vector<benchmark::RequestSize> sizes;
    for (const Json& json : requests) {
        auto arrival = optional<double>(json, "arrival_s", 0);
        auto prompt = required<std::int64_t>(json, "prompt_tokens");
        auto fresh = required<std::int64_t>(json, "new_tokens");
        if (const Error* error = firstError(arrival, prompt, fresh))
            return *error;
        if (*arrival < (sizes.empty() ? 0 : sizes.back().arrivalSeconds))
            return Error{
                ErrorCode::badInput, "The requests of a trace must be in order of arrival, from 0 on.", {}};
        sizes.push_back({*arrival, *prompt, *fresh});
    }
    return sizes;
}

Error tooLarge() {
    return Error{ErrorCode::badInput,
                 "A round has at most " + std::to_string(kMostRequests) + " requests, " +
                     std::to_string(kMostTokens) + " tokens and one day.",
                 {}};
}

bool fits(const std::vector<benchmark::RequestSize>& sizes) {
    std::int64_t left = kMostTokens;
    for (const benchmark::RequestSize& size : sizes) {
        if (size.promptTokens > left || size.newTokens > left - size.promptTokens ||
            size.arrivalSeconds > kLatestArrival)
            return false;
        left -= size.promptTokens + size.newTokens;
    }
    return std::ssize(sizes) <= kMostRequests;
}

bool allPositive(const std::vector<benchmark::RequestSize>& sizes) {
    for (const benchmark::RequestSize& size : sizes)
        if (size.promptTokens < 1 || size.newTokens < 1)
            return false;
    return !sizes.empty();
}

} // namespace

Result<BenchWork> benchWork(const Json& params, std::int64_t vocabulary) {
    auto prompt = optional<std::int64_t>(params, "prompt_tokens", 64);
    auto fresh = optional<std::int64_t>(params, "new_tokens", 32);
    auto rounds = optional<std::int64_t>(params, "rounds", 6);
    auto concurrency = optional<std::int64_t>(params, "concurrency", 1);
    auto prompts = optional<std::vector<Integers>>(params, "prompts", {});
    auto requests = optional<std::vector<Json>>(params, "requests", {});
    if (const Error* error = firstError(prompt, fresh, rounds, concurrency, prompts, requests))
        return *error;
    if (*rounds < 1 || *fresh < 1 || *concurrency < 1)
        return tooSmall();
    if (*concurrency > kMostRequests || *fresh > kMostTokens)
        return tooLarge();
    if (!prompts->empty() && (*concurrency > 1 || !requests->empty()))
        return Error{ErrorCode::badInput, "Prompts are measured one at a time, a round each.", {}};
    BenchWork work{{}, *rounds};
    for (Integers& tokens : *prompts) {
        if (tokens.empty())
            return tooSmall();
        work.loads.push_back({{0, std::move(tokens), *fresh}});
    }
    if (!work.loads.empty())
        return work;
    auto sizes = traceSizes(*requests);
    if (!sizes)
        return sizes.error();
    if (requests->empty())
        sizes->assign(static_cast<std::size_t>(*concurrency), {0, *prompt, *fresh});
    if (!allPositive(*sizes))
        return tooSmall();
    if (!fits(*sizes))
        return tooLarge();
    work.loads.push_back(benchmark::syntheticLoad(*sizes, vocabulary));
    return work;
}

} // namespace workbench
