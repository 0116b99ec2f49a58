#include "runtime/ops/attention_varlen.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <limits>

namespace workbench::ops {
namespace {

/// FlashAttention aligns queries with the end of the keys since its version 2.1, and so does PyTorch's copy
/// (flash_attn/src/mask.h); a window of w tokens is w - 1 to the left and none to the right.
at::Tensor flash(const AttentionArgs& args, const PromptTables& prompts, const at::Tensor& query,
                 const at::Tensor& key, const at::Tensor& value) {
    std::optional<int64_t> left;
    std::optional<int64_t> right;
    if (args.mask == MaskKind::Sliding) {
        left = std::min(args.window - 1, prompts.mostKeys); // it keeps windows in 32 bits
        right = 0;
    }
    return std::get<0>(at::_flash_attention_forward(
        query, key, value, prompts.queryEnds, prompts.keyEnds, prompts.mostQueries, prompts.mostKeys,
        /*dropout_p=*/0, /*is_causal=*/true, /*return_debug_mask=*/false, args.scale, left, right));
}

/// One sequence: query [q, Hq, D], key and value [k, Hkv, D].
at::Tensor plain(const AttentionArgs& args, const at::Tensor& query, const at::Tensor& key,
                 const at::Tensor& value) {
    const int64_t groups = query.size(1) / key.size(1);
    const auto heads = [&](const at::Tensor& rows, int64_t copies) {
        return rows.to(at::kFloat).transpose(0, 1).repeat_interleave(copies, 0);
    };
    const at::Tensor scores = at::matmul(heads(query, 1), heads(key, groups).transpose(1, 2)) * args.scale;
    const at::Tensor self = at::arange(query.size(0)).unsqueeze(1) + (key.size(0) - query.size(0));
    const at::Tensor other = at::arange(key.size(0));
    at::Tensor hidden = other.gt(self);
    if (args.mask == MaskKind::Sliding)
        hidden = hidden.logical_or(other.le(self - args.window));
    const at::Tensor weights =
        scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(-1);
    return at::matmul(weights, heads(value, groups)).transpose(0, 1).to(query.scalar_type());
}

} // namespace

bool flashKnows(const AttentionArgs& args) {
    const at::ScalarType dtype = args.query.scalar_type();
    const int64_t width = args.query.size(3);
    return (dtype == at::kBFloat16 || dtype == at::kHalf) && args.softcap == 0 && !args.sinks.has_value() &&
           !args.slopes.has_value() && (args.mask == MaskKind::Causal || args.mask == MaskKind::Sliding) &&
           args.value.size(3) == width && width > 0 && width <= 256 && width % 8 == 0;
}

at::Tensor varlenAttention(const AttentionArgs& args, const PromptTables& prompts, const at::Tensor& query,
                           const at::Tensor& key, const at::Tensor& value) {
    if (!query.is_cpu())
        return flash(args, prompts, query, key, value);
    at::Tensor output = at::empty_like(query);
    const auto* queryEnds = prompts.queryEnds.const_data_ptr<int32_t>();
    const auto* keyEnds = prompts.keyEnds.const_data_ptr<int32_t>();
    for (int64_t i = 0; i + 1 < prompts.queryEnds.size(0); ++i) {
        const auto keys = [&](const at::Tensor& rows) { return rows.slice(0, keyEnds[i], keyEnds[i + 1]); };
        output.slice(0, queryEnds[i], queryEnds[i + 1])
            .copy_(plain(args, query.slice(0, queryEnds[i], queryEnds[i + 1]), keys(key), keys(value)));
    }
    return output;
}

} // namespace workbench::ops
