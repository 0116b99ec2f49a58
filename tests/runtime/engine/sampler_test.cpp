#include "runtime/engine/sampler.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>

namespace workbench {
namespace {

using Tokens = std::vector<std::int64_t>;

/// One entry of sampler_cases.json, computed by transformers' logits processors.
struct Case {
    std::vector<float> logits;
    Tokens prompt;
    Tokens text;
    SamplingParams params;
    std::map<std::int64_t, double> kept; ///< probabilities
    std::int64_t greedy = 0;
    std::vector<std::pair<std::int64_t, double>> topLogprobs;
};

SamplingParams paramsOf(const nlohmann::json& json) {
    SamplingParams params;
    params.temperature = json.at("temperature");
    params.topK = json.at("top_k");
    params.topP = json.at("top_p");
    params.minP = json.at("min_p");
    params.repetitionPenalty = json.at("repetition_penalty");
    params.presencePenalty = json.at("presence_penalty");
    params.frequencyPenalty = json.at("frequency_penalty");
    return params;
}

std::vector<Case> cases() {
    std::ifstream file(SAMPLER_CASES);
    std::vector<Case> all;
    for (const auto& json : nlohmann::json::parse(file)) {
        Case one{json.at("logits"), json.at("prompt"),      json.at("text"), paramsOf(json.at("params")), {},
                 json.at("greedy"), json.at("top_logprobs")};
        for (const auto& [token, probability] : json.at("kept").items())
            one.kept[std::stoll(token)] = probability;
        all.push_back(std::move(one));
    }
    return all;
}

/// A sampler that has chosen `text`: of logits in which one token towers above any penalty.
Sampler samplerAfter(const Case& of, SamplingParams params) {
    Sampler sampler(params, of.prompt, 0);
    for (const std::int64_t token : of.text) {
        std::vector<float> logits(of.logits.size(), 0.0F);
        logits[static_cast<std::size_t>(token)] = 1e6F;
        EXPECT_EQ(sampler.sample(logits)->token, token);
    }
    return sampler;
}

TEST(Sampler, DrawsFromWhatTransformersLeavesOfTheLogits) {
    const auto all = cases();
    ASSERT_GT(all.size(), 50U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto kept = samplerAfter(all[i], all[i].params).distribution(all[i].logits);
        ASSERT_EQ(kept.size(), all[i].kept.size()) << "case " << i;
        double sum = 0;
        for (const Candidate& candidate : kept)
            sum += candidate.weight;
        for (const Candidate& candidate : kept) {
            ASSERT_TRUE(all[i].kept.contains(candidate.token))
                << "case " << i << ", token " << candidate.token;
            EXPECT_NEAR(candidate.weight / sum, all[i].kept.at(candidate.token), 1e-5) << "case " << i;
        }
    }
}

TEST(Sampler, ChoosesTheTokenThatTransformersChoosesGreedily) {
    for (const Case& one : cases()) {
        SamplingParams params = one.params;
        params.temperature = 0;
        EXPECT_EQ(samplerAfter(one, params).sample(one.logits)->token, one.greedy);
    }
}

TEST(Sampler, ListsTheLogprobsOfTheModelItself) {
    for (const Case& one : cases()) {
        SamplingParams params = one.params;
        params.logprobs = 5;
        const auto sampled = samplerAfter(one, params).sample(one.logits);
        ASSERT_EQ(sampled->top.size(), 5U);
        for (std::size_t i = 0; i < 5; ++i) {
            // Equal logits may be listed in any order.
            EXPECT_EQ(one.logits[static_cast<std::size_t>(sampled->top[i].token)],
                      one.logits[static_cast<std::size_t>(one.topLogprobs[i].first)]);
            EXPECT_NEAR(sampled->top[i].logprob, one.topLogprobs[i].second, 1e-5);
            if (sampled->top[i].token == sampled->token) {
                EXPECT_EQ(sampled->top[i].logprob, sampled->logprob);
            }
        }
    }
}

TEST(Sampler, DrawsAsOftenAsTheProbabilitiesSay) {
    // Pearson's chi-square over the tokens; 99.9 % of fair draws stay below the quantile (R: qchisq(.999,
    // 39)).
    const Case one = cases()[36]; // temperature 1, nothing filtered: 40 tokens
    ASSERT_EQ(one.kept.size(), 40U);
    std::map<std::int64_t, int> counts;
    constexpr int kDraws = 200'000;
    for (int seed = 0; seed < kDraws / 100; ++seed) {
        Sampler sampler(one.params, one.prompt, static_cast<std::uint64_t>(seed));
        for (int i = 0; i < 100; ++i)
            ++counts[sampler.sample(one.logits)->token];
    }
    double statistic = 0;
    for (const auto& [token, probability] : one.kept) {
        const double expected = probability * kDraws;
        statistic += (counts[token] - expected) * (counts[token] - expected) / expected;
    }
    EXPECT_LT(statistic, 72.05);
}

TEST(Sampler, RepeatsItselfWithTheSameSeedAndNotWithAnother) {
    const std::vector<float> flat(1000, 0.0F);
    const auto draw = [&](SamplingParams params, std::uint64_t otherwise) {
        Sampler sampler(params, {}, otherwise);
        Tokens tokens;
        for (int i = 0; i < 20; ++i)
            tokens.push_back(sampler.sample(flat)->token);
        return tokens;
    };
    const Tokens first = draw({.temperature = 1, .seed = 5}, 1);
    EXPECT_EQ(draw({.temperature = 1, .seed = 5}, 2), first);
    EXPECT_NE(draw({.temperature = 1, .seed = 6}, 1), first);
    EXPECT_NE(draw({.temperature = 1}, 1), draw({.temperature = 1}, 2));
}

TEST(Sampler, TakesTheFirstOfEqualsAndTellsTheGap) {
    Sampler sampler({}, {}, 0);
    const auto tie = sampler.sample(std::vector<float>{1, 3, 3, 2});
    EXPECT_EQ(tie->token, 1);
    EXPECT_EQ(tie->gap, 0);
    EXPECT_EQ(sampler.sample(std::vector<float>{1, 3.5, 3, 2})->gap, 0.5);
    EXPECT_EQ(sampler.sample(std::vector<float>{4})->gap, 0);
}

TEST(Sampler, FindsTheTwoLargestWhereverTheyAre) {
    std::mt19937 random(7);
    for (std::size_t size = 2; size < 700; ++size) {
        std::vector<float> logits(size);
        for (float& logit : logits)
            logit = static_cast<float>(random() % 1000); // with equal ones
        const auto largest = std::ranges::max_element(logits);
        std::vector<float> sorted = logits;
        std::ranges::sort(sorted, std::greater{});
        const auto sampled = Sampler({}, {}, 0).sample(logits);
        ASSERT_EQ(sampled->token, largest - logits.begin()) << size;
        ASSERT_EQ(sampled->gap, sorted[0] - sorted[1]) << size;
    }
}

TEST(Sampler, RefusesANumberThatIsNoneWhereverItIs) {
    for (std::size_t place = 0; place < 300; ++place) {
        std::vector<float> logits(300, -1.F);
        logits[0] = 5;
        logits[place] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(Sampler({}, {}, 0).sample(logits).ok()) << place;
    }
}

TEST(Sampler, TakesLogitsThatRuleTokensOut) {
    const float nothing = -std::numeric_limits<float>::infinity();
    Sampler sampler({.temperature = 1, .logprobs = 1}, {}, 3);
    const auto sampled = sampler.sample(std::vector<float>{nothing, 2, nothing});
    EXPECT_EQ(sampled->token, 1);
    EXPECT_EQ(sampled->logprob, 0);
    EXPECT_TRUE(std::isfinite(sampled->gap));
}

TEST(Sampler, RefusesLogitsThatAreNoNumbers) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    for (const std::vector<float>& logits :
         {std::vector<float>{1, nan}, {nan, 1}, {nan}, {1, infinite}, {-infinite, -infinite}}) {
        Sampler sampler({}, {}, 0);
        EXPECT_FALSE(sampler.sample(logits).ok());
    }
}

} // namespace
} // namespace workbench
