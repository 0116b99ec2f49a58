#include "runtime/native/decoder.h"

#include "runtime/program/scalar_types.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace workbench::native {
namespace {

std::int64_t count(const auto& values) {
    return static_cast<std::int64_t>(values.size());
}

ops::Rows rowsOf(const void* data, std::int64_t rows, std::int64_t width) {
    return {data, width, {1, 1, rows}, {0, 0, width}};
}

} // namespace

Decoder::Decoder(DecoderConfig config, DecoderWeights weights, at::ScalarType dtype)
    : m_config(config), m_weights(std::move(weights)), m_dtype(dtype),
      m_bytes(static_cast<std::int64_t>(c10::elementSize(dtype))), m_kernels(&ops::cpuKernels()),
      m_rotary(config.rotary, config.headWidth, dtype) {
    m_attention.dtype = dtype;
    m_attention.queryHeads = config.queryHeads;
    m_attention.kvHeads = config.kvHeads;
    m_attention.width = m_attention.valueWidth = config.headWidth;
    m_attention.outputStrides[0] = config.headWidth;
    m_attention.outputStrides[1] = config.queryWidth();
    m_attention.scale = 1 / std::sqrt(static_cast<double>(config.headWidth));
}

std::byte* Decoder::Buffer::room(std::int64_t elements, at::ScalarType dtype) {
    if (!memory.defined() || memory.numel() < elements)
        memory = at::empty({elements}, dtype);
    return static_cast<std::byte*>(memory.mutable_data_ptr());
}

void Decoder::reserve(const DecoderStep& step) {
    const std::int64_t tokens = count(step.tokens);
    m_buffers.resize(13);
    std::size_t next = 0;
    const auto take = [&](std::int64_t rows, std::int64_t width) {
        return m_buffers[next++].room(std::max<std::int64_t>(1, rows) * width, m_dtype);
    };
    m_hidden = take(tokens, m_config.hidden);
    m_normed = take(tokens, m_config.hidden);
    m_projected = take(tokens, m_config.hidden);
    m_merged = take(tokens, m_config.mergedWidth());
    m_query = take(tokens, m_config.queryWidth());
    m_key = take(tokens, m_config.kvWidth());
    m_attended = take(tokens, m_config.queryWidth());
    m_gateUp = take(tokens, 2 * m_config.intermediate);
    m_activated = take(tokens, m_config.intermediate);
    m_cos = take(tokens, m_config.headWidth);
    m_sin = take(tokens, m_config.headWidth);
    m_logits = take(count(step.rows), m_config.vocabulary);
    const std::int64_t logits = count(step.rows) * m_config.vocabulary;
    m_floats = reinterpret_cast<float*>(
        m_dtype == at::kFloat ? m_logits
                              : m_buffers[next].room(std::max<std::int64_t>(1, logits), at::kFloat));
    m_result = {m_floats, static_cast<std::size_t>(logits)};
}

void Decoder::product(const void* input, std::int64_t rows, const ops::PackedWeight& weight,
                      void* output) const {
    ops::LinearCall call{.dtype = m_dtype};
    call.input = input;
    call.rows = rows;
    call.columns = weight.columns();
    call.blocks = weight.panelBlocks().data();
    call.blockCount = count(weight.panelBlocks());
    call.outputs = weight.rows();
    call.output = output;
    m_kernels->linear(call);
}

/// Normalises `input`, or its sum with `residual`, which then goes to `sum`, into m_normed.
void Decoder::norm(const void* input, const void* residual, std::int64_t rows, const at::Tensor& weight,
                   void* sum) const {
    ops::RmsNormCall call{};
    call.dtype = m_dtype;
    call.input = rowsOf(input, rows, m_config.hidden);
    if (residual)
        call.residual = rowsOf(residual, rows, m_config.hidden);
    call.weight = weight.const_data_ptr();
    call.normed = m_normed;
    call.sum = sum;
    call.spec = {m_config.normEps, 0, ops::NormCast::BeforeWeight};
    m_kernels->rmsNorm(call);
}

void Decoder::embed(const DecoderStep& step) {
    const auto rowBytes = m_config.hidden * m_bytes;
    for (std::int64_t i = 0; i < count(step.tokens); ++i) {
        const std::int64_t token = step.tokens[static_cast<std::size_t>(i)];
        if (m_weights.packedEmbedding)
            m_weights.packedEmbedding->copyRow(token, m_hidden + i * rowBytes);
        else
            std::memcpy(m_hidden + i * rowBytes,
                        static_cast<const std::byte*>(m_weights.embedding.const_data_ptr()) +
                            token * rowBytes,
                        static_cast<std::size_t>(rowBytes));
    }
}

void Decoder::rotate(const LayerWeights& layer, std::int64_t tokens) {
    ops::RopeCall call{};
    call.dtype = m_dtype;
    call.batch = 1;
    call.tokens = tokens;
    call.width = call.rotaryWidth = m_config.headWidth;
    const std::int64_t merged = m_config.mergedWidth();
    call.sides[0] = {m_merged, m_config.queryHeads, 0, m_config.headWidth, merged};
    call.sides[1] = {m_merged + m_config.queryWidth() * m_bytes, m_config.kvHeads, 0, m_config.headWidth,
                     merged};
    call.outputs[0] = m_query;
    call.outputs[1] = m_key;
    call.cos = m_cos;
    call.sin = m_sin;
    call.cosStrides[1] = call.sinStrides[1] = m_config.headWidth;
    call.style = ops::RopeStyle::Half;
    if (m_config.headNorms) {
        call.norm = true;
        call.weights[0] = layer.queryNorm.const_data_ptr();
        call.weights[1] = layer.keyNorm.const_data_ptr();
        call.spec = {m_config.normEps, 0, ops::NormCast::BeforeWeight};
    }
    m_kernels->rope(call);
}

/// Copies the step's keys, [kv heads, T, width], and values, behind them in each merged row, to their slots.
void Decoder::storePages(const DecoderStep& step, const ops::PagedKvView& pages) {
    const std::int64_t tokens = count(step.tokens);
    const std::int64_t width = m_config.headWidth;
    const auto bytes = static_cast<std::size_t>(width * m_bytes);
    const std::int64_t blockTokens = pages.key.size(2);
    const std::byte* values = m_merged + (m_config.queryWidth() + m_config.kvWidth()) * m_bytes;
    const auto slotOf = [&](const at::Tensor& of, std::int64_t block, std::int64_t head, std::int64_t slot) {
        return static_cast<std::byte*>(of.mutable_data_ptr()) +
               (block * of.stride(0) + head * of.stride(1) + slot * of.stride(2)) * m_bytes;
    };
    for (const ops::PagedSequence& sequence : step.sequences)
        for (std::int64_t i = 0; i < sequence.tokens; ++i) {
            const std::int64_t position = sequence.firstPosition + i;
            const std::int64_t block = sequence.blocks[position / blockTokens];
            const std::int64_t token = sequence.firstToken + i;
            for (std::int64_t head = 0; head < m_config.kvHeads; ++head) {
                std::memcpy(slotOf(pages.key, block, head, position % blockTokens),
                            m_key + (head * tokens + token) * width * m_bytes, bytes);
                std::memcpy(slotOf(pages.value, block, head, position % blockTokens),
                            values + (token * m_config.mergedWidth() + head * width) * m_bytes, bytes);
            }
        }
}

void Decoder::attend(const DecoderStep& step, std::size_t layer, ops::PagedKvView& pages) {
    const LayerWeights& weights = m_weights.layers[layer];
    const std::int64_t tokens = count(step.tokens);
    product(m_normed, tokens, weights.queryKeyValue, m_merged);
    rotate(weights, tokens);
    storePages(step, pages);
    m_attention.queryStrides[0] = tokens * m_config.headWidth;
    m_attention.queryStrides[1] = m_config.headWidth;
    for (int i = 0; i < 2; ++i) {
        m_attention.keyStrides[i] = pages.key.stride(i + 1);
        m_attention.valueStrides[i] = pages.value.stride(i + 1);
    }
    m_attention.blockTokens = pages.key.size(2);
    m_attention.keyBlockStride = pages.key.stride(0);
    m_attention.valueBlockStride = pages.value.stride(0);
    m_attention.spans.resize(step.sequences.size());
    for (std::size_t i = 0; i < step.sequences.size(); ++i) {
        const ops::PagedSequence& sequence = step.sequences[i];
        m_attention.spans[i] = {sequence.tokens,
                                sequence.firstPosition + sequence.tokens,
                                sequence.firstPosition,
                                0,
                                m_query + sequence.firstToken * m_config.headWidth * m_bytes,
                                pages.key.const_data_ptr(),
                                pages.value.const_data_ptr(),
                                m_attended + sequence.firstToken * m_config.queryWidth() * m_bytes,
                                sequence.blocks};
    }
    m_kernels->attention(m_attention);
}

/// From what `rows` tokens attended to the layer's output, which is still to be added to m_hidden.
void Decoder::feedForward(const LayerWeights& layer, std::int64_t rows) {
    if (rows == 0)
        return;
    product(m_attended, rows, layer.attentionOut, m_projected);
    norm(m_projected, m_hidden, rows, layer.feedForwardNorm, m_hidden);
    product(m_normed, rows, layer.gateUp, m_gateUp);
    m_kernels->actAndMul(
        {m_dtype, rowsOf(m_gateUp, rows, 2 * m_config.intermediate), m_activated, ops::Activation::Silu});
    product(m_activated, rows, layer.feedForwardOut, m_projected);
}

/// Moves the wanted rows [width] of a buffer to its front; ascending rows never overwrite one that is needed.
void Decoder::keepRows(std::span<const std::int64_t> rows, std::int64_t width, std::byte* buffer) const {
    const std::int64_t rowBytes = width * m_bytes;
    for (std::int64_t i = 0; i < count(rows); ++i)
        std::memmove(buffer + i * rowBytes, buffer + rows[static_cast<std::size_t>(i)] * rowBytes,
                     static_cast<std::size_t>(rowBytes));
}

void Decoder::head(const DecoderStep& step) {
    const std::int64_t rows = count(step.rows);
    if (rows == 0)
        return;
    norm(m_projected, m_hidden, rows, m_weights.norm, m_hidden);
    product(m_normed, rows, m_weights.head, m_logits);
    if (m_dtype != at::kFloat)
        widen(reinterpret_cast<const c10::BFloat16*>(m_logits), rows * m_config.vocabulary, m_floats);
}

bool Decoder::run(const DecoderStep& step, PagedKvCache& cache, const std::atomic<bool>& abort) {
    const std::int64_t tokens = count(step.tokens);
    m_kernels = &ops::cpuKernels();
    reserve(step);
    embed(step);
    m_rotary.gather(step.positions, m_cos, m_sin);
    norm(m_hidden, nullptr, tokens, m_weights.layers[0].attentionNorm, nullptr);
    for (std::size_t layer = 0; layer < m_weights.layers.size(); ++layer) {
        if (abort.load(std::memory_order_relaxed))
            return false;
        attend(step, layer, cache.layer(static_cast<std::int32_t>(layer)));
        if (layer + 1 == m_weights.layers.size())
            break;
        feedForward(m_weights.layers[layer], tokens);
        norm(m_projected, m_hidden, tokens, m_weights.layers[layer + 1].attentionNorm, m_hidden);
    }
    // Behind the last attention tokens meet no more: only those whose logits are wanted go on.
    keepRows(step.rows, m_config.queryWidth(), m_attended);
    keepRows(step.rows, m_config.hidden, m_hidden);
    feedForward(m_weights.layers.back(), count(step.rows));
    head(step);
    return true;
}

} // namespace workbench::native
