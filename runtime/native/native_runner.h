#pragma once

#include "runtime/engine/model_runner.h"
#include "runtime/native/decoder.h"

#include <memory>

namespace workbench::native {

/// Runs the engine's steps on hand-written code over a paged KV cache, as ProgramRunner does on a program.
class NativeRunner : public ModelRunner {
public:
    /// An Error for weights that are missing or of another shape, and for a cache without room. `dtype`: f32
    /// or bf16.
    static Result<std::unique_ptr<NativeRunner>> create(std::shared_ptr<Decoder> decoder,
                                                        const PagedKvOptions& options);

    /// Of the allocator that hands out the runner's blocks.
    BlockLayout layout() const { return m_cache.layout(); }

    Result<std::span<const float>> run(const StepPlan& plan, const std::atomic<bool>& abort) override;
    std::int64_t vocabulary() const override { return m_decoder->config().vocabulary; }

private:
    NativeRunner(std::shared_ptr<Decoder> decoder, PagedKvCache cache)
        : m_decoder(std::move(decoder)), m_cache(std::move(cache)) {}

    std::shared_ptr<Decoder> m_decoder;
    PagedKvCache m_cache;
    std::vector<ops::PagedSequence> m_sequences; ///< of the step
};

/// A decoder of the configuration with weights from `source`. An Error says why there is none.
Result<std::shared_ptr<Decoder>> makeDecoder(const nlohmann::json& config, ScalarType dtype,
                                             const std::set<std::string>& names, ParameterSource& source);

/// What each layer stores for each token.
std::vector<AttentionShape> attentionShapes(const DecoderConfig& config, at::ScalarType dtype);

} // namespace workbench::native
