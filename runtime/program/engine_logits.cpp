#include "runtime/program/engine_logits.h"

#include "runtime/program/cached_runner.h"
#include "runtime/program/torch_edge.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

namespace workbench {
namespace {

constexpr std::int64_t kBlockTokens = 16; ///< few, so that short sequences have several blocks
constexpr std::int64_t kChunks = 3;       ///< of each prompt
constexpr std::int64_t kLeastChunk = 8;
constexpr std::int64_t kSingles = 4; ///< tokens at the end of each sequence that come alone, as in decoding
constexpr std::size_t kStaggered =
    4; ///< sequences begin in different steps, so that chunks meet single tokens

/// One of the batch's sequences, and how far it is.
struct Sequence {
    std::int64_t begin = 0; ///< index of its first token in the batch
    std::int64_t tokens = 0;
    std::int64_t done = 0;
    std::vector<std::vector<BlockId>> tables; ///< by layer group

    std::int64_t next() const {
        const std::int64_t left = tokens - done;
        const std::int64_t chunk = std::max(kLeastChunk, tokens / kChunks);
        return left > kSingles ? std::min(chunk, left - kSingles) : 1;
    }
};

Result<std::vector<Sequence>> sequencesOf(const TokenBatch& batch) {
    std::vector<Sequence> sequences;
    for (std::size_t i = 0; i < batch.positions.size(); ++i) {
        const bool goesOn = i > 0 && batch.positions[i] == batch.positions[i - 1] + 1;
        if (!goesOn && batch.positions[i] != 0)
            return Error{
                ErrorCode::badInput,
                "The engine computes sequences from their first token on, but one begins at position " +
                    std::to_string(batch.positions[i]) + ".",
                {}};
        if (!goesOn)
            sequences.push_back({.begin = static_cast<std::int64_t>(i), .tables = {}});
        ++sequences.back().tokens;
    }
    return sequences;
}

std::int64_t blocksOf(const Sequence& sequence) {
    return (sequence.tokens + kBlockTokens - 1) / kBlockTokens;
}

/// Blocks for everything, the last one first: no table is in the order of memory.
void giveBlocks(std::vector<Sequence>& sequences, const BlockLayout& layout) {
    auto block = static_cast<BlockId>(layout.blocks);
    for (Sequence& sequence : sequences) {
        sequence.tables.resize(layout.windows.size());
        for (auto& table : sequence.tables)
            for (std::int64_t i = 0; i < blocksOf(sequence); ++i)
                table.push_back(--block);
    }
}

/// A block that has all layers.
Result<std::int64_t> blockBytes(const LanguageModel& model) {
    auto shapes = model.program().attentionShapes();
    if (!shapes)
        return shapes.error();
    constexpr std::int64_t kPadding = 64; // at most, of each layer
    std::int64_t bytes = 0;
    for (const AttentionShape& shape : *shapes)
        bytes += kPadding + kBlockTokens * tokenBytes(shape);
    return bytes;
}

/// With blocks for all sequences at once. How many groups the layers make, each with blocks of its own, is
/// known of a cache that is there.
Result<std::unique_ptr<CachedRunner>> runnerFor(LanguageModel& model,
                                                const std::vector<Sequence>& sequences) {
    const auto block = blockBytes(model);
    if (!block)
        return block.error();
    std::int64_t blocks = 1; // that a runner may set aside
    for (const Sequence& sequence : sequences)
        blocks += blocksOf(sequence);
    auto runner = makeRunner(model, {.blockTokens = kBlockTokens, .bytes = blocks * *block});
    const auto groups = runner ? std::ssize((*runner)->layout().windows) : 1;
    if (groups > 1)
        runner = makeRunner(model, {.blockTokens = kBlockTokens, .bytes = groups * blocks * *block});
    if (runner && (*runner)->layout().blocks < groups * (blocks - 1))
        return Error{ErrorCode::runtimeFailed, "The KV cache has no room for the sequences.", {}};
    return runner;
}

struct Step {
    StepPlan plan;
    std::vector<std::int64_t> source; ///< for each token: its index in the batch
};

Step nextStep(std::vector<Sequence>& sequences, std::size_t number) {
    Step step;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        Sequence& sequence = sequences[i];
        if (sequence.done == sequence.tokens || number < i % kStaggered)
            continue;
        const std::int64_t count = sequence.next();
        step.plan.sequences.push_back({.id = i + 1,
                                       .firstToken = std::ssize(step.source),
                                       .tokens = count,
                                       .firstPosition = sequence.done,
                                       .tables = sequence.tables});
        for (std::int64_t token = 0; token < count; ++token) {
            step.plan.positions.push_back(sequence.done + token);
            step.source.push_back(sequence.begin + sequence.done + token);
        }
        sequence.done += count;
    }
    return step;
}

/// Copies the wanted rows of the step's logits to their places.
void place(const Step& step, const std::vector<std::vector<std::int64_t>>& rowsOfToken,
           std::span<const float> logits, at::Tensor& all) {
    const std::int64_t vocabulary = all.size(1);
    for (std::size_t i = 0; i < step.plan.rows.size(); ++i)
        for (const std::int64_t row :
             rowsOfToken[static_cast<std::size_t>(step.source[static_cast<std::size_t>(step.plan.rows[i])])])
            std::memcpy(all.mutable_data_ptr<float>() + row * vocabulary,
                        logits.data() + static_cast<std::int64_t>(i) * vocabulary,
                        static_cast<std::size_t>(vocabulary) * sizeof(float));
}

} // namespace

Result<at::Tensor> engineLogits(LanguageModel& model, const TokenBatch& batch,
                                const std::atomic<bool>& cancel) {
    if (auto fits = model.inputsFor(batch); !fits)
        return fits.error();
    auto usable = model.canUseCache();
    auto sequences = sequencesOf(batch);
    if (!usable || !sequences)
        return usable ? sequences.error() : usable.error();
    if (!*usable)
        return Error{ErrorCode::requirementFailed, "The model cannot decode with a KV cache.", {}};
    auto runner = runnerFor(model, *sequences);
    if (!runner)
        return runner.error();
    giveBlocks(*sequences, (*runner)->layout());
    std::vector<std::vector<std::int64_t>> rowsOfToken(batch.tokens.size());
    for (std::size_t row = 0; row < batch.rows.size(); ++row)
        rowsOfToken[static_cast<std::size_t>(batch.rows[row])].push_back(static_cast<std::int64_t>(row));
    return guarded("The logits of an engine", [&]() -> Result<at::Tensor> {
        at::Tensor all = at::empty({std::ssize(batch.rows), model.vocabulary()}, at::kFloat);
        for (std::size_t number = 0;; ++number) {
            Step step = nextStep(*sequences, number);
            if (step.source.empty() && number >= kStaggered)
                return all;
            for (std::size_t i = 0; i < step.source.size(); ++i) {
                const auto token = static_cast<std::size_t>(step.source[i]);
                step.plan.tokens.push_back(batch.tokens[token]);
                if (!rowsOfToken[token].empty())
                    step.plan.rows.push_back(static_cast<std::int64_t>(i));
            }
            if (step.plan.empty())
                continue;
            if (step.plan.rows.empty())
                step.plan.rows.push_back(0); // a model gives at least one row
            auto logits = (*runner)->run(step.plan, cancel);
            if (!logits)
                return logits.error();
            place(step, rowsOfToken, *logits, all);
        }
    });
}

} // namespace workbench
