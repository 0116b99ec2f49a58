#include "runtime/ops/attention.h"

#include "runtime/ops/attention_bind.h"
#include "runtime/ops/checks.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cstring>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "attention";

AttentionSpan spanOfRun(const AttentionCall& call, const Run& run, const AttentionSpan& whole,
                        const at::Tensor& sample) {
    AttentionSpan span = whole;
    span.queries = span.keys = run.end - run.begin;
    span.firstPosition = run.position;
    span.query = advance(whole.query, run.begin * call.queryStrides[1], sample);
    span.key = advance(whole.key, run.begin * call.keyStrides[1], sample);
    span.value = advance(whole.value, run.begin * call.valueStrides[1], sample);
    span.output = const_cast<char*>(advance(whole.output, run.begin * call.outputStrides[1], sample));
    return span;
}

void runUncached(const AttentionArgs& args, at::Tensor& output) {
    if (output.numel() == 0)
        return;
    BoundAttention bound = bindAttention(args, output);
    AttentionCall& call = bound.call;
    const at::Tensor key = withContiguousRows(args.key);
    const at::Tensor value = withContiguousRows(args.value);
    const at::Tensor positions = args.positions.contiguous();
    setStrides(key, 1, 2, call.keyStrides);
    setStrides(value, 1, 2, call.valueStrides);
    const int64_t tokens = args.query.size(2);
    const AttentionSpan whole{tokens,
                              tokens,
                              0,
                              0,
                              bound.query.const_data_ptr(),
                              key.const_data_ptr(),
                              value.const_data_ptr(),
                              output.mutable_data_ptr()};
    if (args.query.is_cpu()) {
        for (const Run& run : findRuns(positions.const_data_ptr<int64_t>(), tokens))
            call.spans.push_back(spanOfRun(call, run, whole, key));
    } else {
        call.devicePositions = positions.const_data_ptr<int64_t>();
        call.spans.push_back(whole);
    }
    kernelsFor(kOp, args.query).attention(call);
}

void checkCacheTensor(const char* name, const at::Tensor& cache, const at::Tensor& fresh) {
    TORCH_CHECK_VALUE(cache.dim() == 3 && cache.size(1) == fresh.size(1) && cache.size(2) == fresh.size(3) &&
                          (cache.stride(2) == 1 || cache.size(2) == 1),
                      "workbench::attention: the cache of ", name, " must be [capacity, ", fresh.size(1),
                      ", ", fresh.size(3), "] with a contiguous last dimension, got ", cache.sizes(), ".");
    checkLike(kOp, "the cache", cache, name, fresh);
}

/// Checks the run of positions against the cache and returns the first position.
int64_t checkCache(const AttentionArgs& args, const KvCacheView& cache) {
    TORCH_CHECK(args.query.is_cpu(), "workbench::attention: the cached form runs on the CPU, got ",
                args.query.device(), ".");
    TORCH_CHECK_VALUE(
        args.mask != MaskKind::Full,
        "workbench::attention: a full mask has no cached form, because earlier tokens would see later ones.");
    checkCacheTensor("key", cache.key, args.key);
    checkCacheTensor("value", cache.value, args.value);
    const int64_t tokens = args.query.size(2);
    const auto* positions = args.positions.const_data_ptr<int64_t>();
    const int64_t step = args.positions.stride(1);
    const int64_t first = positions[0];
    for (int64_t t = 1; t < tokens; ++t) {
        TORCH_CHECK_VALUE(positions[t * step] == first + t,
                          "workbench::attention: positions of a cached call must be consecutive, got ",
                          positions[t * step], " after ", positions[(t - 1) * step], ".");
    }
    TORCH_CHECK_VALUE(first >= 0 && first <= cache.length, "workbench::attention: positions start at ", first,
                      ", but the cache holds ", cache.length, " tokens.");
    const int64_t capacity = std::min(cache.key.size(0), cache.value.size(0));
    TORCH_CHECK_VALUE(first + tokens <= capacity, "workbench::attention: position ", first + tokens - 1,
                      " is past the cache's capacity of ", capacity, " tokens.");
    return first;
}

/// fresh [1, H, T, D] -> cache rows [first, first + T) of [capacity, H, D].
void store(const at::Tensor& fresh, at::Tensor& cache, int64_t first) {
    const at::Tensor rows = withContiguousRows(fresh);
    const auto elementSize = static_cast<int64_t>(fresh.element_size());
    const auto rowBytes = static_cast<size_t>(rows.size(3) * elementSize);
    const auto* from = static_cast<const char*>(rows.const_data_ptr());
    auto* to = static_cast<char*>(cache.mutable_data_ptr());
    for (int64_t t = 0; t < rows.size(2); ++t) {
        for (int64_t head = 0; head < rows.size(1); ++head) {
            std::memcpy(to + ((first + t) * cache.stride(0) + head * cache.stride(1)) * elementSize,
                        from + (t * rows.stride(2) + head * rows.stride(1)) * elementSize, rowBytes);
        }
    }
}

void runCached(const AttentionArgs& args, KvCacheView& cache, at::Tensor& output) {
    const int64_t tokens = args.query.size(2);
    if (tokens == 0)
        return;
    const int64_t first = checkCache(args, cache);
    store(args.key, cache.key, first);
    store(args.value, cache.value, first);
    cache.length = first + tokens;
    if (output.numel() == 0)
        return;
    BoundAttention bound = bindAttention(args, output);
    setStrides(cache.key, 1, 0, bound.call.keyStrides);
    setStrides(cache.value, 1, 0, bound.call.valueStrides);
    bound.call.spans.push_back({tokens, cache.length, first, 0, bound.query.const_data_ptr(),
                                cache.key.const_data_ptr(), cache.value.const_data_ptr(),
                                output.mutable_data_ptr()});
    kernelsFor(kOp, args.query).attention(bound.call);
}

} // namespace

at::Tensor emptyAttention(const AttentionArgs& args) {
    checkAttention(args);
    return emptyOf(attentionOutputShape(args), args.query);
}

at::Tensor attention(const AttentionArgs& args) {
    at::Tensor output = emptyAttention(args);
    runUncached(args, output);
    return output;
}

void attentionInto(at::Tensor& output, const AttentionArgs& args) {
    checkAttention(args);
    checkOutput(kOp, "output", output, attentionOutputShape(args), args.query);
    runUncached(args, output);
}

KvCacheView makeKvCache(int64_t capacity, int64_t kvHeads, int64_t width, int64_t valueWidth,
                        at::ScalarType dtype) {
    return {at::empty({kvHeads, capacity, width}, dtype).transpose(0, 1),
            at::empty({kvHeads, capacity, valueWidth}, dtype).transpose(0, 1), 0};
}

at::Tensor attentionWithCache(const AttentionArgs& args, KvCacheView& cache) {
    at::Tensor output = emptyAttention(args);
    runCached(args, cache, output);
    return output;
}

void attentionWithCacheInto(at::Tensor& output, const AttentionArgs& args, KvCacheView& cache) {
    checkAttention(args);
    checkOutput(kOp, "output", output, attentionOutputShape(args), args.query);
    runCached(args, cache, output);
}

at::Tensor mask(const at::Tensor& positions, MaskKind kind, int64_t window) {
    checkMaskWindow("mask", kind, window);
    TORCH_CHECK_VALUE(positions.dim() == 2 && positions.size(0) == 1 && positions.scalar_type() == at::kLong,
                      "workbench::mask: positions must be [1, tokens] int64, got ", positions.sizes(), " ",
                      positions.scalar_type(), ".");
    const int64_t tokens = positions.size(1);
    const at::Tensor onHost = positions.cpu().contiguous();
    at::Tensor seen = at::empty({1, 1, tokens, tokens}, onHost.options().dtype(at::kBool));
    auto* rows = seen.mutable_data_ptr<bool>();
    std::fill_n(rows, tokens * tokens, false);
    AttentionCall call;
    call.mask = kind;
    call.window = window;
    for (const Run& run : findRuns(onHost.const_data_ptr<int64_t>(), tokens)) {
        const AttentionSpan span{run.end - run.begin, run.end - run.begin, 0, run.position};
        for (int64_t query = 0; query < span.queries; ++query) {
            const KeyRange keys = visibleKeys(call, span, query);
            std::fill(rows + (run.begin + query) * tokens + run.begin + keys.begin,
                      rows + (run.begin + query) * tokens + run.begin + keys.end, true);
        }
    }
    return seen.to(positions.device());
}

} // namespace workbench::ops
