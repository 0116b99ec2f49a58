#include "runtime/ops/rope.h"

#include "runtime/ops/checks.h"

#include <c10/util/Exception.h>

#include <array>

namespace workbench::ops {
namespace {

using Shape = std::array<int64_t, 4>;

/// One call's arguments; heads and tokens stand at different dimensions for the two operators.
struct Arguments {
    const char* op;
    const at::Tensor& query;
    const at::Tensor& key;
    const at::Tensor& cos;
    const at::Tensor& sin;
    RopeStyle style;
    int tokenDim;
    const QkNorm* norm = nullptr;

    int headDim() const { return 3 - tokenDim; }
    Shape outputShape(const at::Tensor& side) const {
        return {side.size(0), side.size(headDim()), side.size(tokenDim), side.size(3)};
    }
};

void checkSides(const Arguments& a) {
    const char* layout = a.tokenDim == 2 ? "[batch, heads, tokens, width]" : "[batch, tokens, heads, width]";
    for (const auto& [name, side] : {std::pair{"query", &a.query}, std::pair{"key", &a.key}}) {
        checkFloating(a.op, name, *side);
        TORCH_CHECK_VALUE(side->dim() == 4, "workbench::", a.op, ": ", name, " must be ", layout, ", got ",
                          side->sizes(), ".");
    }
    checkLike(a.op, "key", a.key, "query", a.query);
    TORCH_CHECK_VALUE(a.query.size(0) == a.key.size(0) &&
                          a.query.size(a.tokenDim) == a.key.size(a.tokenDim) &&
                          a.query.size(3) == a.key.size(3),
                      "workbench::", a.op, ": query and key must have one batch, token count and width, got ",
                      a.query.sizes(), " and ", a.key.sizes(), ".");
}

void checkTables(const Arguments& a) {
    checkLike(a.op, "cos", a.cos, "query", a.query);
    checkLike(a.op, "sin", a.sin, "query", a.query);
    TORCH_CHECK_VALUE(a.cos.dim() == 3 && a.cos.sizes() == a.sin.sizes(), "workbench::", a.op,
                      ": cos and sin must both be [batch, tokens, width], got ", a.cos.sizes(), " and ",
                      a.sin.sizes(), ".");
    TORCH_CHECK_VALUE(a.cos.size(2) % 2 == 0 && a.cos.size(2) <= a.query.size(3), "workbench::", a.op,
                      ": the width of cos must be even and at most the head width ", a.query.size(3),
                      ", got ", a.cos.size(2), ".");
    TORCH_CHECK_VALUE(a.cos.size(1) == a.query.size(a.tokenDim) &&
                          (a.cos.size(0) == 1 || a.cos.size(0) == a.query.size(0)),
                      "workbench::", a.op, ": cos must be [1 or batch, tokens, width] for query ",
                      a.query.sizes(), ", got ", a.cos.sizes(), ".");
}

void check(const Arguments& a) {
    checkSides(a);
    checkTables(a);
    if (a.norm != nullptr) {
        checkWeight(a.op, "query_weight", a.norm->queryWeight, a.query);
        checkWeight(a.op, "key_weight", a.norm->keyWeight, a.key);
    }
}

Heads asHeads(const Arguments& a, const at::Tensor& side) {
    return {side.const_data_ptr(), side.size(a.headDim()), side.stride(0), side.stride(a.headDim()),
            side.stride(a.tokenDim)};
}

void setTable(const at::Tensor& table, int64_t batch, const void*& data, int64_t (&strides)[2]) {
    data = table.const_data_ptr();
    strides[0] = table.size(0) == batch ? table.stride(0) : 0;
    strides[1] = table.stride(1);
}

/// `rows`: query, key, cos and sin, each with a contiguous last dimension.
RopeCall callOf(const Arguments& a, const std::array<at::Tensor, 4>& rows, at::Tensor& queryOut,
                at::Tensor& keyOut) {
    RopeCall call{};
    call.dtype = a.query.scalar_type();
    call.batch = a.query.size(0);
    call.tokens = a.query.size(a.tokenDim);
    call.width = a.query.size(3);
    call.rotaryWidth = a.cos.size(2);
    call.sides[0] = asHeads(a, rows[0]);
    call.sides[1] = asHeads(a, rows[1]);
    call.outputs[0] = queryOut.mutable_data_ptr();
    call.outputs[1] = keyOut.mutable_data_ptr();
    setTable(rows[2], call.batch, call.cos, call.cosStrides);
    setTable(rows[3], call.batch, call.sin, call.sinStrides);
    call.style = a.style;
    if (a.norm != nullptr) {
        call.norm = true;
        call.weights[0] = dataOrNull(a.norm->queryWeight);
        call.weights[1] = dataOrNull(a.norm->keyWeight);
        call.spec = a.norm->spec;
    }
    return call;
}

std::array<at::Tensor, 4> rowsOf(const Arguments& a) {
    return {withContiguousRows(a.query), withContiguousRows(a.key), withContiguousRows(a.cos),
            withContiguousRows(a.sin)};
}

void run(const Arguments& a, at::Tensor& queryOut, at::Tensor& keyOut) {
    if (queryOut.numel() == 0 && keyOut.numel() == 0)
        return;
    const std::array<at::Tensor, 4> rows = rowsOf(a);
    kernelsFor(a.op, a.query).rope(callOf(a, rows, queryOut, keyOut));
}

std::tuple<at::Tensor, at::Tensor> allocateAndRun(const Arguments& a) {
    check(a);
    at::Tensor queryOut = emptyOf(a.outputShape(a.query), a.query);
    at::Tensor keyOut = emptyOf(a.outputShape(a.key), a.key);
    run(a, queryOut, keyOut);
    return {queryOut, keyOut};
}

void checkOutputs(const Arguments& a, const at::Tensor& queryOut, const at::Tensor& keyOut) {
    checkOutput(a.op, "query output", queryOut, a.outputShape(a.query), a.query);
    checkOutput(a.op, "key output", keyOut, a.outputShape(a.key), a.key);
}

void runInto(const Arguments& a, at::Tensor& queryOut, at::Tensor& keyOut) {
    check(a);
    checkOutputs(a, queryOut, keyOut);
    run(a, queryOut, keyOut);
}

std::optional<RopeCall> bind(const Arguments& a, at::Tensor& queryOut, at::Tensor& keyOut) {
    check(a);
    checkOutputs(a, queryOut, keyOut);
    const std::array<at::Tensor, 4> rows = rowsOf(a);
    const bool same = rows[0].is_same(a.query) && rows[1].is_same(a.key) && rows[2].is_same(a.cos) &&
                      rows[3].is_same(a.sin);
    if (!same || (queryOut.numel() == 0 && keyOut.numel() == 0))
        return std::nullopt;
    return callOf(a, rows, queryOut, keyOut);
}

} // namespace

std::tuple<at::Tensor, at::Tensor> rope(const at::Tensor& query, const at::Tensor& key, const at::Tensor& cos,
                                        const at::Tensor& sin, RopeStyle style) {
    return allocateAndRun({"rope", query, key, cos, sin, style, 2});
}

void ropeInto(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query, const at::Tensor& key,
              const at::Tensor& cos, const at::Tensor& sin, RopeStyle style) {
    runInto({"rope", query, key, cos, sin, style, 2}, queryOut, keyOut);
}

std::tuple<at::Tensor, at::Tensor> qkNormRope(const at::Tensor& query, const at::Tensor& key,
                                              const QkNorm& norm, const at::Tensor& cos,
                                              const at::Tensor& sin, RopeStyle style) {
    return allocateAndRun({"qk_norm_rope", query, key, cos, sin, style, 1, &norm});
}

void qkNormRopeInto(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query, const at::Tensor& key,
                    const QkNorm& norm, const at::Tensor& cos, const at::Tensor& sin, RopeStyle style) {
    runInto({"qk_norm_rope", query, key, cos, sin, style, 1, &norm}, queryOut, keyOut);
}

std::optional<RopeCall> bindRope(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query,
                                 const at::Tensor& key, const at::Tensor& cos, const at::Tensor& sin,
                                 RopeStyle style) {
    return bind({"rope", query, key, cos, sin, style, 2}, queryOut, keyOut);
}

std::optional<RopeCall> bindQkNormRope(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query,
                                       const at::Tensor& key, const QkNorm& norm, const at::Tensor& cos,
                                       const at::Tensor& sin, RopeStyle style) {
    return bind({"qk_norm_rope", query, key, cos, sin, style, 1, &norm}, queryOut, keyOut);
}

} // namespace workbench::ops
