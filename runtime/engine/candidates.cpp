#include "runtime/engine/candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace workbench {
namespace {

/// The logit that a token needs to be among the `k` largest. Equals of the k-th stay, as in transformers'
/// TopKLogitsWarper.
float thresholdOf(std::span<const float> logits, std::int64_t k) {
    if (k <= 0 || k >= static_cast<std::int64_t>(logits.size()))
        return -std::numeric_limits<float>::infinity();
    std::vector<float> sorted(logits.begin(), logits.end());
    const auto place = sorted.begin() + (k - 1);
    std::nth_element(sorted.begin(), place, sorted.end(), std::greater<>());
    return *place;
}

double sumOf(std::span<const Candidate> candidates) {
    double sum = 0;
    for (const Candidate& candidate : candidates)
        sum += candidate.weight;
    return sum;
}

/// Keeps the most probable tokens up to the one with which their share reaches `share`: transformers'
/// TopPLogitsWarper removes, from the least probable on, tokens whose running sum is at most 1 - share.
void keepMostProbable(std::vector<Candidate>& candidates, double share) {
    const auto lessProbable = [](const Candidate& a, const Candidate& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.token > b.token;
    };
    // A heap, because the few tokens that are kept need no sorting of all others.
    const double wanted = share * sumOf(candidates);
    std::make_heap(candidates.begin(), candidates.end(), lessProbable);
    auto rest = candidates.end();
    double mass = 0;
    do {
        std::pop_heap(candidates.begin(), rest, lessProbable);
        mass += (--rest)->weight;
    } while (rest != candidates.begin() && mass < wanted);
    candidates.erase(candidates.begin(), rest);
    std::reverse(candidates.begin(), candidates.end());
}

} // namespace

std::vector<Candidate> candidates(std::span<const float> logits, const SamplingParams& params) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    const float threshold = thresholdOf(logits, params.topK);
    std::vector<Candidate> kept;
    for (std::size_t token = 0; token < logits.size(); ++token) {
        if (logits[token] < threshold)
            continue;
        const double weight = std::exp((logits[token] - largest) / params.temperature);
        if (weight > 0)
            kept.push_back({static_cast<std::int64_t>(token), weight});
    }
    if (params.topP < 1)
        keepMostProbable(kept, params.topP);
    // The most probable token has weight 1.
    std::erase_if(kept, [&](const Candidate& candidate) { return candidate.weight < params.minP; });
    return kept;
}

std::int64_t pick(std::span<const Candidate> candidates, double uniform) {
    double left = uniform * sumOf(candidates);
    for (const Candidate& candidate : candidates) {
        left -= candidate.weight;
        if (left < 0)
            return candidate.token;
    }
    return candidates.back().token; // rounding
}

} // namespace workbench
