#include "runtime/native/native_runner.h"

#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"

#include <c10/core/InferenceMode.h>

namespace workbench::native {

Result<std::shared_ptr<Decoder>> makeDecoder(const nlohmann::json& config, ScalarType dtype,
                                             const std::set<std::string>& names, ParameterSource& source) {
    if (!ops::canPack(toTorch(dtype)))
        return Error{ErrorCode::runtimeFailed, "The hand-written code runs in f32 and bf16 only.", {}};
    auto sizes = decoderConfig(config);
    if (!sizes)
        return sizes.error();
    return guarded("Loading the hand-written code", [&]() -> Result<std::shared_ptr<Decoder>> {
        auto weights = decoderWeights(*sizes, dtype, names, source);
        if (!weights)
            return weights.error();
        return std::make_shared<Decoder>(*sizes, std::move(*weights), toTorch(dtype));
    });
}

std::vector<AttentionShape> attentionShapes(const DecoderConfig& config, at::ScalarType dtype) {
    const AttentionShape shape{config.kvHeads, config.headWidth, config.headWidth, dtype, 0};
    return std::vector<AttentionShape>(static_cast<std::size_t>(config.layers), shape);
}

Result<std::unique_ptr<NativeRunner>> NativeRunner::create(std::shared_ptr<Decoder> decoder,
                                                           const PagedKvOptions& options) {
    auto cache = guarded("Making room for the KV cache", [&] {
        return PagedKvCache::create(attentionShapes(decoder->config(), decoder->dtype()), options);
    });
    if (!cache)
        return cache.error();
    return std::unique_ptr<NativeRunner>(new NativeRunner(std::move(decoder), std::move(*cache)));
}

Result<std::span<const float>> NativeRunner::run(const StepPlan& plan, const std::atomic<bool>& abort) {
    m_sequences.clear();
    // All layers see all tokens: one group.
    for (const StepSequence& sequence : plan.sequences)
        m_sequences.push_back({sequence.firstToken, sequence.tokens, sequence.firstPosition,
                               sequence.tables[0].data(), std::ssize(sequence.tables[0])});
    return guarded("The hand-written code", [&]() -> Result<std::span<const float>> {
        const c10::InferenceMode inference;
        if (!m_decoder->run({plan.tokens, plan.positions, plan.rows, m_sequences}, m_cache, abort))
            return Error{ErrorCode::cancelled, "The run was cancelled.", {}};
        return m_decoder->logits();
    });
}

} // namespace workbench::native
