#include "runtime/program/language_model.h"

#include "runtime/program/comparison.h"
#include "runtime/program/device_step.h"
#include "runtime/program/picked_rows.h"
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace workbench {
namespace {

constexpr std::array<const char*, 3> kInputs{"input_ids", "position_ids", "logits_to_keep"};
constexpr std::array<std::size_t, 3> kDimensions{2, 2, 1};
constexpr std::int64_t kTriedTokens = 12; ///< of the sequence that tells whether a cache may be used

Error unusable(const std::string& detail) {
    return Error{ErrorCode::badInput,
                 "The graph is not that of a language model: " + detail +
                     " It needs the inputs input_ids [1, T], position_ids [1, T] and logits_to_keep [L], and "
                     "one output [1, L, vocabulary].",
                 {}};
}

Error badBatch(std::string message) {
    return Error{ErrorCode::badInput, std::move(message), {}};
}

at::Tensor integers(const std::vector<std::int64_t>& values, bool batched) {
    const auto count = static_cast<std::int64_t>(values.size());
    at::Tensor tensor = batched ? at::empty({1, count}, at::kLong) : at::empty({count}, at::kLong);
    if (count > 0)
        std::memcpy(tensor.mutable_data_ptr(), values.data(), values.size() * sizeof(std::int64_t));
    return tensor;
}

at::Tensor toFloats(const at::Tensor& logits) {
    if (logits.scalar_type() != at::kBFloat16 || !logits.is_cpu() || !logits.is_contiguous())
        return logits.to(at::kFloat).contiguous();
    at::Tensor floats = at::empty(logits.sizes(), at::kFloat);
    widen(logits.const_data_ptr<at::BFloat16>(), logits.numel(), floats.mutable_data_ptr<float>());
    return floats;
}

} // namespace

Result<LanguageModel> LanguageModel::create(Program program) {
    const Graph& graph = program.graph();
    std::vector<std::size_t> order;
    for (const std::string& input : program.userInputs()) {
        const auto place = std::find(kInputs.begin(), kInputs.end(), input);
        if (place == kInputs.end())
            return unusable("it has an input " + input + ".");
        order.push_back(static_cast<std::size_t>(place - kInputs.begin()));
        const TensorMeta& meta = graph.value(program.find(input)).meta;
        if (meta.dtype != ScalarType::i64 || meta.shape.size() != kDimensions[order.back()])
            return unusable("its input " + input + " has another type.");
    }
    if (order.size() != kInputs.size())
        return unusable("it has " + std::to_string(order.size()) + " inputs.");
    if (graph.outputs.size() != 1 || graph.value(graph.outputs[0]).meta.shape.size() != 3)
        return unusable("its outputs are others.");
    const SymInt& vocabulary = graph.value(graph.outputs[0]).meta.shape[2];
    if (!vocabulary.isConstant())
        return unusable("the size of its vocabulary is not constant.");
    const std::int64_t size = vocabulary.constant();
    return LanguageModel(std::move(program), std::move(order), size);
}

Result<LanguageModel> LanguageModel::forEngine() const {
    auto program = m_program.withGraph(pickRowsEarly(m_program.graph()));
    if (!program)
        return program.error();
    LanguageModel model(std::move(*program), m_order, m_vocabulary);
    model.m_canUseCache = m_canUseCache;
    return model;
}

Status LanguageModel::checkBatch(const TokenBatch& batch) const {
    const auto count = static_cast<std::int64_t>(batch.tokens.size());
    if (count == 0)
        return badBatch("There are no tokens to run.");
    if (batch.positions.size() != batch.tokens.size())
        return badBatch("There are " + std::to_string(count) + " tokens, but " +
                        std::to_string(batch.positions.size()) + " positions.");
    for (const std::int64_t token : batch.tokens)
        if (token < 0 || token >= m_vocabulary)
            return badBatch("Token " + std::to_string(token) + " is not in the model's vocabulary of " +
                            std::to_string(m_vocabulary) + ".");
    for (const std::int64_t position : batch.positions)
        if (position < 0)
            return badBatch("Position " + std::to_string(position) + " is negative.");
    for (const std::int64_t row : batch.rows)
        if (row < 0 || row >= count)
            return badBatch("Row " + std::to_string(row) + " of the logits is not one of the " +
                            std::to_string(count) + " tokens.");
    return Ok{};
}

Result<std::vector<at::Tensor>> LanguageModel::inputsFor(const TokenBatch& batch) const {
    if (auto checked = checkBatch(batch); !checked)
        return checked.error();
    const c10::Device device = m_program.placement().device;
    const std::array<const std::vector<std::int64_t>*, 3> parts{&batch.tokens, &batch.positions, &batch.rows};
    std::vector<at::Tensor> inputs;
    for (const std::size_t part : m_order)
        inputs.push_back(integers(*parts[part], kDimensions[part] == 2));
    if (!device.is_cpu())
        for (at::Tensor& input : inputs)
            input = input.to(device);
    return inputs;
}

Result<at::Tensor> LanguageModel::logits(const TokenBatch& batch, const RunOptions& options) {
    return guarded("Running the model", [&]() -> Result<at::Tensor> {
        auto logits = logitsThere(batch, options);
        return logits && !logits->is_cpu() ? logits->cpu() : logits;
    });
}

Result<at::Tensor> LanguageModel::logitsThere(const TokenBatch& batch, const RunOptions& options) {
    return guarded("Running the model", [&]() -> Result<at::Tensor> {
        auto inputs = inputsFor(batch);
        if (!inputs)
            return inputs.error();
        return logitsFrom(*inputs, std::ssize(batch.rows), options);
    });
}

Result<at::Tensor> LanguageModel::logitsOf(const at::Tensor& tokens, const at::Tensor& positions,
                                           const at::Tensor& rows, const RunOptions& options) {
    const std::array parts{&tokens, &positions, &rows};
    std::vector<at::Tensor> inputs;
    for (const std::size_t part : m_order)
        inputs.push_back(*parts[part]);
    return guarded("Running the model", [&] { return logitsFrom(inputs, rows.size(0), options); });
}

Result<at::Tensor> LanguageModel::logitsFrom(std::span<const at::Tensor> inputs, std::int64_t rows,
                                             const RunOptions& options) {
    auto outputs = m_program.run(inputs, options);
    if (!outputs)
        return outputs.error();
    if (outputs->at(0).sizes() != at::IntArrayRef({1, rows, m_vocabulary}))
        return Error{ErrorCode::runtimeFailed,
                     "The model's output does not have the shape that its graph states.",
                     {}};
    return toFloats(outputs->at(0).reshape({rows, m_vocabulary}));
}

Result<KvCache> LanguageModel::makeCache(std::int64_t capacity) const {
    return guarded("Making room for " + std::to_string(capacity) + " tokens in the KV cache",
                   [&]() -> Result<KvCache> {
                       auto shapes = m_program.attentionShapes();
                       if (!shapes)
                           return shapes.error();
                       return KvCache(*shapes, capacity);
                   });
}

Result<bool> LanguageModel::canUseCache() {
    if (!m_canUseCache) {
        auto tried = tryCache();
        if (!tried)
            return tried.error();
        m_canUseCache = *tried;
    }
    return *m_canUseCache;
}

Result<bool> LanguageModel::tryCache() {
    if (!m_program.placement().direct)
        return tryPages();
    auto cache = makeCache(kTriedTokens);
    if (!cache)
        return false; // a mask or a size that no cache can hold
    return agreesWith([&](const TokenBatch& batch) { return logits(batch, {.cache = &*cache}); });
}

/// The same over a paged cache: that of one sequence is the CPU's.
Result<bool> LanguageModel::tryPages() {
    constexpr std::int64_t kBlockTokens = 4;
    constexpr std::int64_t kBlocks = kTriedTokens / kBlockTokens;
    constexpr std::int64_t kPadding = 64; // at most, of each layer
    const c10::Device device = m_program.placement().device;
    auto shapes = m_program.attentionShapes();
    if (!shapes)
        return false;
    std::int64_t bytes = 0;
    for (const AttentionShape& shape : *shapes)
        bytes += kBlocks * (kPadding + kBlockTokens * tokenBytes(shape));
    // Each group of layers has blocks of its own; there are as many groups as layers at most.
    auto cache = PagedKvCache::create(
        *shapes, {.blockTokens = kBlockTokens, .bytes = bytes * std::ssize(*shapes), .device = device});
    if (!cache)
        return false;
    std::vector<std::vector<BlockId>> tables(cache->layout().windows.size());
    BlockId next = 0;
    for (auto& table : tables)
        for (std::int64_t i = 0; i < kBlocks; ++i)
            table.push_back(next++);
    return agreesWith([&](const TokenBatch& batch) {
        const StepSequence sequence{.id = 1,
                                    .firstToken = 0,
                                    .tokens = std::ssize(batch.tokens),
                                    .firstPosition = batch.positions.front(),
                                    .tables = tables};
        const StepPlan plan{batch.tokens, batch.positions, {sequence}, batch.rows};
        PagedRun paged{.cache = &*cache, .sequences = {}, .tables = tablesFor(plan, *cache, device)};
        return logits(batch, {.paged = &paged});
    });
}

/// `step` computes the next tokens of one sequence after those that it has seen.
Result<bool> LanguageModel::agreesWith(const CachedStep& step) {
    constexpr std::int64_t kPrefill = 8;
    // Rounding moves bf16 logits by up to a few percent of the largest; a token that misses its neighbours
    // moves them by their own size.
    const ScalarType dtype = m_program.graph().value(m_program.graph().outputs[0]).meta.dtype;
    const double tolerance = bytesPerElement(dtype) >= 4 ? 1e-3 : 0.1;
    TokenBatch whole;
    for (std::int64_t i = 0; i < kTriedTokens; ++i) {
        whole.tokens.push_back((i * 7919 + 1) % m_vocabulary);
        whole.positions.push_back(i);
    }
    for (std::int64_t i = kPrefill; i < kTriedTokens; ++i)
        whole.rows.push_back(i);
    auto reference = logits(whole);
    if (!reference)
        return false; // so many positions do not fit into its context
    const TokenBatch part{{whole.tokens.begin(), whole.tokens.begin() + kPrefill},
                          {whole.positions.begin(), whole.positions.begin() + kPrefill},
                          {}};
    if (auto prefilled = step(part); !prefilled)
        return prefilled.error();
    for (std::int64_t i = kPrefill; i < kTriedTokens; ++i) {
        const auto at = static_cast<std::size_t>(i);
        auto alone = step({{whole.tokens[at]}, {whole.positions[at]}, {0}});
        if (!alone)
            return alone.error();
        auto difference =
            compare(reference->narrow(0, i - kPrefill, 1), *alone, "The logits with a KV cache");
        if (!difference)
            return difference.error();
        if (difference->relativeError > tolerance)
            return false;
    }
    return true;
}

} // namespace workbench
