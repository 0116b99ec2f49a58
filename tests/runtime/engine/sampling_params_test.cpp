#include "runtime/engine/sampling_params.h"

#include <gtest/gtest.h>

#include <limits>

namespace workbench {
namespace {

TEST(SamplingParams, TakesTheDefaultsAndTheEndsOfTheRanges) {
    EXPECT_TRUE(check({}).ok());
    EXPECT_TRUE(check({.temperature = 2, .topK = 1, .topP = 0, .minP = 1, .repetitionPenalty = 0.1}).ok());
}

TEST(SamplingParams, NamesTheOneThatIsOutOfRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    const std::pair<SamplingParams, const char*> cases[]{{{.temperature = -0.1}, "temperature"},
                                                         {{.temperature = nan}, "temperature"},
                                                         {{.temperature = infinite}, "temperature"},
                                                         {{.topK = -1}, "top-k"},
                                                         {{.topP = 1.01}, "top-p"},
                                                         {{.topP = nan}, "top-p"},
                                                         {{.minP = -0.5}, "min-p"},
                                                         {{.repetitionPenalty = 0}, "repetition"},
                                                         {{.presencePenalty = nan}, "presence"},
                                                         {{.frequencyPenalty = infinite}, "frequency"},
                                                         {{.logprobs = -1}, "log-probabilities"}};
    for (const auto& [params, word] : cases) {
        const auto checked = check(params);
        ASSERT_FALSE(checked.ok()) << word;
        EXPECT_NE(checked.error().message.find(word), std::string::npos) << checked.error().message;
    }
}

} // namespace
} // namespace workbench
