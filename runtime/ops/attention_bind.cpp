#include "runtime/ops/attention_bind.h"

#include "runtime/ops/checks.h"

#include <c10/util/Exception.h>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "attention";

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

void checkSide(const char* name, const at::Tensor& pages, const at::Tensor& fresh) {
    TORCH_CHECK_VALUE(pages.dim() == 4 && pages.size(1) == fresh.size(1) && pages.size(3) == fresh.size(3) &&
                          pages.size(2) > 0 && (pages.stride(3) == 1 || pages.size(3) == 1),
                      "workbench::attention: the blocks of ", name, " must be [blocks, ", fresh.size(1),
                      ", block tokens, ", fresh.size(3), "] with a contiguous last dimension, got ",
                      pages.sizes(), ".");
    checkLike(kOp, "the cache", pages, name, fresh);
}

const double* widen(const std::optional<at::Tensor>& from, std::optional<at::Tensor>& to) {
    if (!from.has_value())
        return nullptr;
    to = from->to(at::kDouble).contiguous();
    return to->const_data_ptr<double>();
}

} // namespace

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

void checkMaskWindow(const char* op, MaskKind kind, int64_t window) {
    const bool windowed = kind == MaskKind::Sliding || kind == MaskKind::Chunked;
    TORCH_CHECK_VALUE(windowed ? window >= 1 : window == 0, "workbench::", op, ": window must be ",
                      windowed ? "at least 1 for a sliding or chunked mask" : "0 for a causal or full mask",
                      ", got ", window, ".");
}

void checkAttention(const AttentionArgs& args) {
    checkShapes(args);
    checkTokens(args);
    checkMaskWindow(kOp, args.mask, args.window);
    for (const auto& [name, tensor] : {std::pair{"sinks", &args.sinks}, std::pair{"slopes", &args.slopes}}) {
        TORCH_CHECK_VALUE(!tensor->has_value() ||
                              ((*tensor)->dim() == 1 && (*tensor)->size(0) == args.query.size(1)),
                          "workbench::attention: ", name, " must be [", args.query.size(1),
                          "], one number per query head.");
    }
}

void checkPages(const AttentionArgs& args, const PagedKvView& cache) {
    TORCH_CHECK_VALUE(
        args.mask != MaskKind::Full,
        "workbench::attention: a full mask has no cached form, because earlier tokens would see later ones.");
    checkSide("key", cache.key, args.key);
    checkSide("value", cache.value, args.value);
    TORCH_CHECK_VALUE(cache.key.size(0) == cache.value.size(0) && cache.key.size(2) == cache.value.size(2),
                      "workbench::attention: keys and values must have equal blocks, got ", cache.key.sizes(),
                      " and ", cache.value.sizes(), ".");
}

std::array<int64_t, 4> attentionOutputShape(const AttentionArgs& args) {
    return {1, args.query.size(2), args.query.size(1), args.value.size(3)};
}

void setStrides(const at::Tensor& tensor, int headDim, int tokenDim, int64_t (&strides)[2]) {
    strides[0] = tensor.stride(headDim);
    strides[1] = tensor.stride(tokenDim);
}

BoundAttention bindAttention(const AttentionArgs& args, const at::Tensor& output) {
    BoundAttention bound;
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

} // namespace workbench::ops
