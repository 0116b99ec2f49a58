#include "runtime/ops/attention.h"

#include "runtime/ops/checks.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstring>
#include <vector>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "attention";

void checkWindow(const char* op, MaskKind kind, int64_t window) {
    const bool windowed = kind == MaskKind::Sliding || kind == MaskKind::Chunked;
    TORCH_CHECK_VALUE(windowed ? window >= 1 : window == 0, "workbench::", op, ": window must be ",
                      windowed ? "at least 1 for a sliding or chunked mask" : "0 for a causal or full mask",
                      ", got ", window, ".");
}

void checkShapes(const AttentionArgs& args) {
    for (const auto& [name, tensor] :
         {std::pair{"query", &args.query}, std::pair{"key", &args.key}, std::pair{"value", &args.value}}) {
        checkFloating(kOp, name, *tensor);
        TORCH_CHECK_VALUE(tensor->dim() == 4 && tensor->size(0) == 1, "workbench::attention: ", name,
                          " must be [1, heads, tokens, width], got ", tensor->sizes(), ".");
    }
    checkLike(kOp, "key", args.key, "query", args.query);
    checkLike(kOp, "value", args.value, "query", args.query);
    TORCH_CHECK_VALUE(args.query.size(3) == args.key.size(3),
                      "workbench::attention: query and key must have one width, got ", args.query.size(3),
                      " and ", args.key.size(3), ".");
    TORCH_CHECK_VALUE(args.key.size(1) == args.value.size(1),
                      "workbench::attention: key and value must have equally many heads, got ",
                      args.key.size(1), " and ", args.value.size(1), ".");
    TORCH_CHECK_VALUE(
        args.key.size(1) > 0 && args.query.size(1) % args.key.size(1) == 0,
        "workbench::attention: the number of query heads must be a multiple of the key heads, got ",
        args.query.size(1), " and ", args.key.size(1), ".");
}

void checkTokens(const AttentionArgs& args) {
    TORCH_CHECK_VALUE(args.positions.dim() == 2 && args.positions.size(0) == 1 &&
                          args.positions.scalar_type() == at::kLong,
                      "workbench::attention: positions must be [1, tokens] int64, got ",
                      args.positions.sizes(), " ", args.positions.scalar_type(), ".");
    TORCH_CHECK_VALUE(args.positions.device() == args.query.device(),
                      "workbench::attention: positions must be on ", args.query.device(), " like query, got ",
                      args.positions.device(), ".");
    const int64_t tokens = args.query.size(2);
    TORCH_CHECK_VALUE(
        args.key.size(2) == tokens && args.value.size(2) == tokens && args.positions.size(1) == tokens,
        "workbench::attention: query, key, value and positions must have equally many tokens, got ", tokens,
        ", ", args.key.size(2), ", ", args.value.size(2), " and ", args.positions.size(1), ".");
}

void check(const AttentionArgs& args) {
    checkShapes(args);
    checkTokens(args);
    checkWindow(kOp, args.mask, args.window);
    for (const auto& [name, tensor] : {std::pair{"sinks", &args.sinks}, std::pair{"slopes", &args.slopes}}) {
        TORCH_CHECK_VALUE(!tensor->has_value() ||
                              ((*tensor)->dim() == 1 && (*tensor)->size(0) == args.query.size(1)),
                          "workbench::attention: ", name, " must be [", args.query.size(1),
                          "], one number per query head.");
    }
}

/// Strides of heads and tokens.
void setStrides(const at::Tensor& tensor, int headDim, int tokenDim, int64_t (&strides)[2]) {
    strides[0] = tensor.stride(headDim);
    strides[1] = tensor.stride(tokenDim);
}

/// A call and the tensors whose memory it points to.
struct BoundCall {
    AttentionCall call;
    at::Tensor query;
    std::optional<at::Tensor> sinks;
    std::optional<at::Tensor> slopes;
};

const double* widen(const std::optional<at::Tensor>& from, std::optional<at::Tensor>& to) {
    if (!from.has_value())
        return nullptr;
    to = from->to(at::kDouble).contiguous();
    return to->const_data_ptr<double>();
}

/// All but keys, values and spans.
BoundCall bind(const AttentionArgs& args, const at::Tensor& output) {
    BoundCall bound;
    AttentionCall& call = bound.call;
    bound.query = withContiguousRows(args.query);
    call.dtype = args.query.scalar_type();
    call.queryHeads = args.query.size(1);
    call.kvHeads = args.key.size(1);
    call.width = args.query.size(3);
    call.valueWidth = args.value.size(3);
    setStrides(bound.query, 1, 2, call.queryStrides);
    setStrides(output, 2, 1, call.outputStrides);
    call.scale = args.scale;
    call.softcap = args.softcap;
    call.mask = args.mask;
    call.window = args.window;
    call.sinks = widen(args.sinks, bound.sinks);
    call.slopes = widen(args.slopes, bound.slopes);
    return bound;
}

const char* advance(const void* data, int64_t elements, const at::Tensor& tensor) {
    return static_cast<const char*>(data) + elements * static_cast<int64_t>(tensor.element_size());
}

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
    BoundCall bound = bind(args, output);
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
    BoundCall bound = bind(args, output);
    setStrides(cache.key, 1, 0, bound.call.keyStrides);
    setStrides(cache.value, 1, 0, bound.call.valueStrides);
    bound.call.spans.push_back({tokens, cache.length, first, 0, bound.query.const_data_ptr(),
                                cache.key.const_data_ptr(), cache.value.const_data_ptr(),
                                output.mutable_data_ptr()});
    kernelsFor(kOp, args.query).attention(bound.call);
}

std::array<int64_t, 4> outputShape(const AttentionArgs& args) {
    return {1, args.query.size(2), args.query.size(1), args.value.size(3)};
}

} // namespace

at::Tensor attention(const AttentionArgs& args) {
    check(args);
    at::Tensor output = at::empty(outputShape(args), args.query.options());
    runUncached(args, output);
    return output;
}

void attentionInto(at::Tensor& output, const AttentionArgs& args) {
    check(args);
    checkOutput(kOp, "output", output, outputShape(args), args.query);
    runUncached(args, output);
}

KvCacheView makeKvCache(int64_t capacity, int64_t kvHeads, int64_t width, int64_t valueWidth,
                        at::ScalarType dtype) {
    return {at::empty({kvHeads, capacity, width}, dtype).transpose(0, 1),
            at::empty({kvHeads, capacity, valueWidth}, dtype).transpose(0, 1), 0};
}

at::Tensor attentionWithCache(const AttentionArgs& args, KvCacheView& cache) {
    check(args);
    at::Tensor output = at::empty(outputShape(args), args.query.options());
    runCached(args, cache, output);
    return output;
}

void attentionWithCacheInto(at::Tensor& output, const AttentionArgs& args, KvCacheView& cache) {
    check(args);
    checkOutput(kOp, "output", output, outputShape(args), args.query);
    runCached(args, cache, output);
}

at::Tensor mask(const at::Tensor& positions, MaskKind kind, int64_t window) {
    checkWindow("mask", kind, window);
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
