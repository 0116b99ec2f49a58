#include "runtime/ops/attention.h"
#include "runtime/ops/attention_bind.h"
#include "runtime/ops/checks.h"

#include <c10/util/Exception.h>

#include <cstring>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "attention";

/// Every block that the sequence writes or sees is one of the cache's.
void checkBlocks(const AttentionCall& call, const PagedSequence& sequence, const AttentionSpan& span,
                 int64_t blocks) {
    const int64_t first = visibleKeys(call, span, 0).begin / call.blockTokens;
    const int64_t last = (span.keys - 1) / call.blockTokens;
    TORCH_CHECK_VALUE(last < sequence.blockCount, "workbench::attention: position ", span.keys - 1,
                      " is past the sequence's ", sequence.blockCount, " blocks of ", call.blockTokens,
                      " tokens.");
    for (int64_t block = first; block <= last; ++block)
        TORCH_CHECK_VALUE(sequence.blocks[block] >= 0 && sequence.blocks[block] < blocks,
                          "workbench::attention: block ", sequence.blocks[block],
                          " of a sequence is not one of the cache's ", blocks, ".");
}

void checkPositions(const AttentionArgs& args, const PagedSequence& sequence, int64_t expectedFirst) {
    TORCH_CHECK_VALUE(
        sequence.firstToken == expectedFirst && sequence.tokens > 0 && sequence.firstPosition >= 0,
        "workbench::attention: a sequence must have tokens and begin at token ", expectedFirst,
        ", where the one before it ends, got ", sequence.tokens, " tokens from ", sequence.firstToken, ".");
    TORCH_CHECK_VALUE(sequence.firstToken + sequence.tokens <= args.query.size(2),
                      "workbench::attention: the sequences have more tokens than the call.");
    const auto* positions = args.positions.const_data_ptr<int64_t>();
    const int64_t step = args.positions.stride(1);
    for (int64_t i = 0; i < sequence.tokens; ++i)
        TORCH_CHECK_VALUE(positions[(sequence.firstToken + i) * step] == sequence.firstPosition + i,
                          "workbench::attention: token ", sequence.firstToken + i, " stands at position ",
                          positions[(sequence.firstToken + i) * step], ", but its sequence says ",
                          sequence.firstPosition + i, ".");
}

/// fresh [1, H, T, D] -> the slots of its tokens.
void store(const at::Tensor& fresh, at::Tensor& pages, c10::ArrayRef<PagedSequence> sequences) {
    const at::Tensor rows = withContiguousRows(fresh);
    const auto elementSize = static_cast<int64_t>(fresh.element_size());
    const auto rowBytes = static_cast<size_t>(rows.size(3) * elementSize);
    const auto* from = static_cast<const char*>(rows.const_data_ptr());
    auto* to = static_cast<char*>(pages.mutable_data_ptr());
    const int64_t blockTokens = pages.size(2);
    for (const PagedSequence& sequence : sequences) {
        for (int64_t i = 0; i < sequence.tokens; ++i) {
            const int64_t position = sequence.firstPosition + i;
            const int64_t slot = sequence.blocks[position / blockTokens] * pages.stride(0) +
                                 position % blockTokens * pages.stride(2);
            for (int64_t head = 0; head < rows.size(1); ++head)
                std::memcpy(to + (slot + head * pages.stride(1)) * elementSize,
                            from + ((sequence.firstToken + i) * rows.stride(2) + head * rows.stride(1)) *
                                       elementSize,
                            rowBytes);
        }
    }
}

/// The sequence's queries against its blocks.
AttentionSpan spanOf(const AttentionCall& call, const PagedSequence& sequence, const at::Tensor& query,
                     const PagedKvView& cache, at::Tensor& output) {
    AttentionSpan span;
    span.queries = sequence.tokens;
    span.keys = sequence.firstPosition + sequence.tokens;
    span.firstQuery = sequence.firstPosition;
    span.query = advance(query.const_data_ptr(), sequence.firstToken * call.queryStrides[1], query);
    span.key = cache.key.const_data_ptr();
    span.value = cache.value.const_data_ptr();
    span.output = const_cast<char*>(
        advance(output.mutable_data_ptr(), sequence.firstToken * call.outputStrides[1], output));
    span.blocks = sequence.blocks;
    return span;
}

void checkPaged(const AttentionArgs& args, const PagedKvView& cache) {
    TORCH_CHECK(args.query.is_cpu(), "workbench::attention: the paged form runs on the CPU, got ",
                args.query.device(), ".");
    checkPages(args, cache);
}

/// `bound` is that of `args` and `output`.
void runPaged(const AttentionArgs& args, PagedKvView& cache, c10::ArrayRef<PagedSequence> sequences,
              BoundAttention& bound, at::Tensor& output) {
    checkPaged(args, cache);
    AttentionCall& call = bound.call;
    setStrides(cache.key, 1, 2, call.keyStrides);
    setStrides(cache.value, 1, 2, call.valueStrides);
    call.blockTokens = cache.key.size(2);
    call.keyBlockStride = cache.key.stride(0);
    call.valueBlockStride = cache.value.stride(0);
    call.spans.clear();
    call.spans.reserve(sequences.size());
    int64_t tokens = 0;
    for (const PagedSequence& sequence : sequences) {
        checkPositions(args, sequence, tokens);
        tokens += sequence.tokens;
        call.spans.push_back(spanOf(call, sequence, bound.query, cache, output));
        checkBlocks(call, sequence, call.spans.back(), cache.key.size(0));
    }
    TORCH_CHECK_VALUE(tokens == args.query.size(2), "workbench::attention: the sequences have ", tokens,
                      " tokens, but the call has ", args.query.size(2), ".");
    store(args.key, cache.key, sequences);
    store(args.value, cache.value, sequences);
    if (output.numel() > 0)
        kernelsFor(kOp, args.query).attention(call);
}

} // namespace

at::Tensor attentionPaged(const AttentionArgs& args, PagedKvView& cache,
                          c10::ArrayRef<PagedSequence> sequences) {
    at::Tensor output = emptyAttention(args);
    BoundAttention bound = bindAttention(args, output);
    runPaged(args, cache, sequences, bound, output);
    return output;
}

void attentionPagedInto(at::Tensor& output, const AttentionArgs& args, PagedKvView& cache,
                        c10::ArrayRef<PagedSequence> sequences) {
    checkAttention(args);
    checkOutput(kOp, "output", output, attentionOutputShape(args), args.query);
    BoundAttention bound = bindAttention(args, output);
    runPaged(args, cache, sequences, bound, output);
}

PagedAttention::PagedAttention(at::Tensor output, AttentionArgs args)
    : m_output(std::move(output)), m_args(std::move(args)) {
    checkAttention(m_args);
    checkOutput(kOp, "output", m_output, attentionOutputShape(m_args), m_args.query);
    m_bound = std::make_shared<BoundAttention>(bindAttention(m_args, m_output));
}

bool PagedAttention::isUsable() const {
    return m_bound->query.is_same(m_args.query);
}

void PagedAttention::run(const at::Tensor& positions, PagedKvView& cache,
                         c10::ArrayRef<PagedSequence> sequences) {
    m_args.positions = positions;
    checkTokens(m_args);
    runPaged(m_args, cache, sequences, *m_bound, m_output);
}

} // namespace workbench::ops
