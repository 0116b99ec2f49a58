#include "runtime/engine/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench {
namespace {

constexpr double kTooMuch = 2; // as a weight: the most probable token has 1

double weightOf(const LogitBlocks& logits, float logit, double temperature) {
    return std::exp((static_cast<double>(logit) - logits.largest()) / temperature);
}

/// The tokens with at least the logit `least` that have any weight.
std::vector<Candidate> candidatesFrom(const LogitBlocks& logits, float least, double temperature) {
    std::vector<Candidate> found;
    logits.forEachFrom(least, [&](std::int64_t token, float logit) {
        const double weight = weightOf(logits, logit, temperature);
        if (weight > 0)
            found.push_back({token, weight});
    });
    return found;
}

double sumOf(std::span<const Candidate> candidates) {
    double sum = 0;
    for (const Candidate& candidate : candidates)
        sum += candidate.weight;
    return sum;
}

/// Keeps the most probable tokens up to the one with which their weights reach `wanted`, more than 0:
/// transformers' TopPLogitsWarper removes, from the least probable on, tokens whose running sum is at most
/// 1 - top_p. Those with a weight of `sure` are known to be kept.
void keepMostProbable(std::vector<Candidate>& candidates, double wanted, double sure) {
    const auto rest = std::partition(candidates.begin(), candidates.end(),
                                     [&](const Candidate& one) { return one.weight >= sure; });
    std::sort(rest, candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
    });
    double sum = sumOf({candidates.begin(), rest});
    auto end = rest;
    while (end != candidates.end() && sum < wanted)
        sum += (end++)->weight;
    candidates.erase(end, candidates.end());
}

/// The share of all weights that top-p asks for: one token at least has it.
double wantedOf(double topP, double allWeights) {
    return std::max(topP * allWeights, std::numeric_limits<double>::min());
}

/// Of all tokens, the most probable ones that top-p leaves. The least probable of them is found between two
/// weights first, because listing and sorting what is far from it would take most of the time.
std::vector<Candidate> mostProbable(const LogitBlocks& logits, double topP, double temperature) {
    constexpr double kStep = 0.1, kLast = 1e-7;
    constexpr int kHalvings = 4;
    const double wanted = wantedOf(topP, logits.sumOfWeights(temperature));
    const auto areEnough = [&](double weight) { return logits.sumOfWeights(temperature, weight) >= wanted; };
    double tooFew = kTooMuch, enough = kStep;
    while (enough >= kLast && !areEnough(enough)) {
        tooFew = enough;
        enough *= kStep;
    }
    if (enough < kLast)
        enough = 0; // all tokens
    for (int i = 0; i < kHalvings && enough > 0; ++i) {
        const double middle = std::sqrt(tooFew * enough);
        (areEnough(middle) ? enough : tooFew) = middle;
    }
    auto found = candidatesFrom(logits, logits.logitWithShare(temperature, enough), temperature);
    keepMostProbable(found, wanted, tooFew);
    return found;
}

/// The token in whose share of the block's weights `left` falls.
std::int64_t pickInBlock(const LogitBlocks& logits, std::size_t block, double temperature, double left) {
    std::int64_t picked = logits.largestToken();
    for (std::size_t token = block * kBlockLogits; token < logits.endOf(block) && left >= 0; ++token) {
        const double weight = weightOf(logits, logits.logits()[token], temperature);
        if (weight > 0) {
            picked = static_cast<std::int64_t>(token);
            left -= weight;
        }
    }
    return picked;
}

std::vector<Candidate> kept(const LogitBlocks& logits, const SamplingParams& params) {
    const double temperature = params.temperature;
    if (params.topK > 0 && params.topK < std::ssize(logits.logits())) {
        // Equals of the k-th stay, as in transformers' TopKLogitsWarper.
        const float least = logits.kthLargest(static_cast<std::size_t>(params.topK));
        auto found = candidatesFrom(logits, least, temperature);
        if (params.topP < 1)
            keepMostProbable(found, wantedOf(params.topP, sumOf(found)), kTooMuch);
        return found;
    }
    if (params.topP < 1)
        return mostProbable(logits, params.topP, temperature);
    return candidatesFrom(logits, logits.logitWithShare(temperature, params.minP), temperature);
}

} // namespace

std::vector<Candidate> candidates(const LogitBlocks& logits, const SamplingParams& params) {
    auto found = kept(logits, params);
    std::erase_if(found, [&](const Candidate& candidate) { return candidate.weight < params.minP; });
    return found;
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

std::int64_t draw(const LogitBlocks& logits, const SamplingParams& params, double uniform) {
    if (params.topK > 0 || params.topP < 1 || params.minP > 0)
        return pick(candidates(logits, params), uniform);
    std::vector<float> weights;
    double left = uniform * logits.sumOfWeights(params.temperature, 0, &weights);
    for (std::size_t block = 0; block < weights.size(); ++block) {
        if (left < weights[block])
            return pickInBlock(logits, block, params.temperature, left);
        left -= weights[block];
    }
    return logits.largestToken(); // rounding
}

} // namespace workbench
