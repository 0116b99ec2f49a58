#pragma once

#include "runtime/engine/candidates.h"
#include "runtime/engine/sampling_params.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace workbench {

struct TokenLogprob {
    std::int64_t token = 0;
    double logprob = 0; ///< natural logarithm
};

/// A chosen token.
struct Sampled {
    std::int64_t token = 0;
    double gap = 0; ///< the largest logit of the model minus the second
    /// Of the model's own distribution, before penalties and filters.
    double logprob = 0;            ///< of the token, when log-probabilities are asked for
    std::vector<TokenLogprob> top; ///< the most probable first
};

/// Chooses the tokens of one request, one after the other. The choice depends on the logits, the request's
/// tokens, its parameters and its seed, never on what else runs. One thread at a time.
class Sampler {
public:
    /// `params` have passed check(); `seed` is used when they have none.
    Sampler(SamplingParams params, std::span<const std::int64_t> prompt, std::uint64_t seed);

    /// The next token. `logits` [vocabulary]; an Error when no token has a finite logit or one is not a
    /// number.
    Result<Sampled> sample(std::span<const float> logits);
    /// What sample() would draw from, with a temperature above 0: the tokens that penalties and filters
    /// leave.
    std::vector<Candidate> distribution(std::span<const float> logits) {
        m_adjusted.lookAt(penalised(logits));
        return candidates(m_adjusted, m_params);
    }

private:
    std::span<const float> penalised(std::span<const float> logits);

    struct Uses {
        bool prompt = false;
        std::int64_t text = 0; ///< how often it was chosen
    };
    SamplingParams m_params;
    std::uint64_t m_seed;
    std::uint64_t m_count = 0;                     ///< tokens chosen
    std::unordered_map<std::int64_t, Uses> m_uses; ///< empty without penalties
    std::vector<float> m_work;                     ///< [vocabulary]
    LogitBlocks m_model;                           ///< as the model made them
    LogitBlocks m_adjusted;                        ///< after penalties
};

} // namespace workbench
