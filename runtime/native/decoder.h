#pragma once

#include "runtime/native/decoder_weights.h"
#include "runtime/native/rotary_table.h"
#include "runtime/ops/kernels.h"
#include "runtime/program/paged_kv_cache.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace workbench::native {

/// Tokens of one or more sequences, as in StepPlan.
struct DecoderStep {
    std::span<const std::int64_t> tokens;
    std::span<const std::int64_t> positions;
    std::span<const std::int64_t> rows; ///< indices of the tokens whose logits are wanted
    std::span<const ops::PagedSequence> sequences;
};

/// A Llama or Qwen3 decoder as one writes it by hand: the kernels that every program uses, called one after
/// the other on buffers that stay, without tensors and without a dispatcher. One thread at a time.
class Decoder {
public:
    Decoder(DecoderConfig config, DecoderWeights weights, at::ScalarType dtype);

    /// Stores keys and values of the step in `cache` and computes its logits, f32 [rows, vocabulary], valid
    /// until the next call. False when `abort` was set.
    bool run(const DecoderStep& step, PagedKvCache& cache, const std::atomic<bool>& abort);
    std::span<const float> logits() const { return m_result; }
    const DecoderConfig& config() const { return m_config; }
    at::ScalarType dtype() const { return m_dtype; }

private:
    /// Grows with the largest step; one for each of the pointers below.
    struct Buffer {
        at::Tensor memory;
        std::byte* room(std::int64_t elements, at::ScalarType dtype);
    };
    void reserve(const DecoderStep& step);
    void embed(const DecoderStep& step);
    void attend(const DecoderStep& step, std::size_t layer, ops::PagedKvView& pages);
    void storePages(const DecoderStep& step, const ops::PagedKvView& pages);
    void rotate(const LayerWeights& layer, std::int64_t tokens);
    void feedForward(const LayerWeights& layer, std::int64_t rows);
    void head(const DecoderStep& step);
    void product(const void* input, std::int64_t rows, const ops::PackedWeight& weight, void* output) const;
    void norm(const void* input, const void* residual, std::int64_t rows, const at::Tensor& weight,
              void* sum) const;
    void keepRows(std::span<const std::int64_t> rows, std::int64_t width, std::byte* buffer) const;

    const DecoderConfig m_config;
    const DecoderWeights m_weights;
    const at::ScalarType m_dtype;
    const std::int64_t m_bytes;    ///< of an element
    const ops::Kernels* m_kernels; ///< of the step
    RotaryTable m_rotary;
    ops::AttentionCall m_attention; ///< of the step; pointers of each layer are put in

    std::vector<Buffer> m_buffers;
    std::byte* m_hidden = nullptr;    // [T, hidden]: the residual stream
    std::byte* m_normed = nullptr;    // [T, hidden]
    std::byte* m_projected = nullptr; // [T, hidden]
    std::byte* m_merged = nullptr;    // [T, merged width]: query, key, value heads of each token
    std::byte* m_query = nullptr;     // [query heads, T, head width]
    std::byte* m_key = nullptr;       // [kv heads, T, head width]
    std::byte* m_attended = nullptr;  // [T, query width]
    std::byte* m_gateUp = nullptr;    // [T, 2 * intermediate]
    std::byte* m_activated = nullptr; // [T, intermediate]
    std::byte* m_cos = nullptr;       // [T, head width]
    std::byte* m_sin = nullptr;       //
    std::byte* m_logits = nullptr;    // [rows, vocabulary]
    float* m_floats = nullptr;        // the same widened; m_logits itself in float32
    std::span<const float> m_result;
};

} // namespace workbench::native
