#include "runtime/ops/attention_tables.h"

#include "runtime/ops/attention_bind.h"
#include "runtime/ops/attention_varlen.h"
#include "runtime/ops/checks.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "attention";

int64_t promptTokens(const PagedTables& tables) {
    return tables.prompts.tokens.defined() ? tables.prompts.tokens.numel() : 0;
}

void checkTable(const char* name, const at::Tensor& table, at::ScalarType dtype, int64_t dims,
                const AttentionArgs& args) {
    TORCH_CHECK_VALUE(table.defined() && table.dim() == dims && table.scalar_type() == dtype &&
                          table.is_contiguous() && table.device() == args.query.device(),
                      "workbench::attention: ", name, " must be a contiguous tensor of ", dtype, " with ",
                      dims, dims == 1 ? " dimension" : " dimensions", " on ", args.query.device(),
                      " like query.");
}

void checkPrompts(const AttentionArgs& args, const PromptTables& prompts) {
    checkTable("prompts.tokens", prompts.tokens, at::kLong, 1, args);
    checkTable("prompts.queryEnds", prompts.queryEnds, at::kInt, 1, args);
    checkTable("prompts.keyBlocks", prompts.keyBlocks, at::kLong, 1, args);
    checkTable("prompts.keySlots", prompts.keySlots, at::kLong, 1, args);
    checkTable("prompts.keyEnds", prompts.keyEnds, at::kInt, 1, args);
    TORCH_CHECK_VALUE(
        prompts.keyBlocks.size(0) == prompts.keySlots.size(0) &&
            prompts.queryEnds.size(0) == prompts.keyEnds.size(0) && prompts.queryEnds.size(0) > 1,
        "workbench::attention: prompts must have one block and one slot per key, and query and key ends of "
        "one or more sequences, got ",
        prompts.keyBlocks.size(0), " blocks, ", prompts.keySlots.size(0), " slots, ",
        prompts.queryEnds.size(0), " and ", prompts.keyEnds.size(0), " ends.");
    TORCH_CHECK_VALUE(prompts.mostQueries > 0 && prompts.mostKeys >= prompts.mostQueries,
                      "workbench::attention: prompts of at most ", prompts.mostQueries,
                      " tokens cannot have at most ", prompts.mostKeys, " keys.");
}

void checkTables(const AttentionArgs& args, const PagedTables& tables) {
    const int64_t tokens = args.query.size(2);
    checkTable("sequences", tables.sequences, at::kInt, 1, args);
    checkTable("blocks", tables.blocks, at::kInt, 2, args);
    TORCH_CHECK_VALUE(tables.sequences.size(0) == tokens,
                      "workbench::attention: sequences must have one number for each of the ", tokens,
                      " tokens, got ", tables.sequences.size(0), ".");
    if (tables.singles.defined())
        checkTable("singles", tables.singles, at::kLong, 1, args);
    const int64_t singles = tables.singles.defined() ? tables.singles.size(0) : tokens;
    TORCH_CHECK_VALUE(singles + promptTokens(tables) == tokens, "workbench::attention: ", singles,
                      " single tokens and ", promptTokens(tables), " of prompts are not the call's ", tokens,
                      ".");
    TORCH_CHECK_VALUE(tokens == 0 || tables.mostKeys > 0,
                      "workbench::attention: mostKeys must be at least 1, got ", tables.mostKeys, ".");
    if (promptTokens(tables) > 0)
        checkPrompts(args, tables.prompts);
    for (const auto& [name, tensor] : {std::pair{"sinks", &args.sinks}, std::pair{"slopes", &args.slopes}})
        TORCH_CHECK_VALUE(!tensor->has_value() || (*tensor)->device() == args.query.device(),
                          "workbench::attention: ", name, " must be on ", args.query.device(),
                          " like query.");
}

void setPageStrides(const at::Tensor& pages, int64_t (&strides)[3]) {
    for (int dim = 0; dim < 3; ++dim)
        strides[dim] = pages.stride(dim);
}

PagePlaces placesOf(const at::Tensor& positions, const PagedKvView& cache, const PagedTables& tables) {
    return {positions.const_data_ptr<int64_t>(), tables.sequences.const_data_ptr<int32_t>(),
            tables.blocks.const_data_ptr<int32_t>(), tables.blocks.size(1), cache.key.size(2)};
}

void store(const AttentionArgs& args, PagedKvView& cache, const PagePlaces& places) {
    StorePagesCall call{args.query.scalar_type(), places, args.query.size(2), args.key.size(1)};
    const at::Tensor fresh[2] = {withContiguousRows(args.key), withContiguousRows(args.value)};
    at::Tensor* const pages[2] = {&cache.key, &cache.value};
    for (int side = 0; side < 2; ++side) {
        call.fresh[side] = fresh[side].const_data_ptr();
        setStrides(fresh[side], 1, 2, call.freshStrides[side]);
        call.pages[side] = pages[side]->mutable_data_ptr();
        setPageStrides(*pages[side], call.pageStrides[side]);
        call.widths[side] = fresh[side].size(3);
    }
    kernelsFor(kOp, args.query).storePages(call);
}

PagedRowsCall rowsCall(const AttentionCall& bound, const PagedKvView& cache, const PagePlaces& places) {
    PagedRowsCall call;
    call.dtype = bound.dtype;
    call.places = places;
    call.queryHeads = bound.queryHeads;
    call.kvHeads = bound.kvHeads;
    call.width = bound.width;
    call.valueWidth = bound.valueWidth;
    call.key = cache.key.const_data_ptr();
    call.value = cache.value.const_data_ptr();
    std::copy_n(bound.queryStrides, 2, call.queryStrides);
    setPageStrides(cache.key, call.keyStrides);
    setPageStrides(cache.value, call.valueStrides);
    call.scale = bound.scale;
    call.softcap = bound.softcap;
    call.mask = bound.mask;
    call.window = bound.window;
    call.sinks = bound.sinks;
    call.slopes = bound.slopes;
    return call;
}

/// Token by token; `tokens` undefined: all.
void attendRows(const AttentionArgs& args, const PagedKvView& cache, const PagePlaces& places,
                const at::Tensor& tokens, int64_t mostKeys, at::Tensor& output) {
    const BoundAttention bound = bindAttention(args, output);
    PagedRowsCall call = rowsCall(bound.call, cache, places);
    call.tokens = tokens.defined() ? tokens.const_data_ptr<int64_t>() : nullptr;
    call.rows = tokens.defined() ? tokens.size(0) : args.query.size(2);
    call.query = bound.query.const_data_ptr();
    call.output = output.mutable_data_ptr();
    const int64_t seen = args.window > 0 ? std::min(args.window, mostKeys) : mostKeys;
    call.partKeys = pagedPartKeys(call.rows, call.queryHeads, seen);
    call.parts = (seen + call.partKeys - 1) / call.partKeys;
    at::Tensor partials;
    if (call.parts > 1) {
        const at::ScalarType dtype = call.dtype == at::kDouble ? at::kDouble : at::kFloat;
        partials = at::empty({call.rows, call.queryHeads, call.parts, call.valueWidth + 2},
                             args.query.options().dtype(dtype));
        call.partials = partials.mutable_data_ptr();
    }
    kernelsFor(kOp, args.query).pagedRows(call);
}

void attendPrompts(const AttentionArgs& args, const PagedKvView& cache, const PromptTables& prompts,
                   at::Tensor& output) {
    const auto gathered = [&](const at::Tensor& pages) { // [keys, Hkv, width]
        return at::index(pages.transpose(1, 2), {prompts.keyBlocks, prompts.keySlots}).contiguous();
    };
    const at::Tensor query = args.query.select(0, 0).transpose(0, 1).index_select(0, prompts.tokens);
    output.select(0, 0).index_copy_(
        0, prompts.tokens, varlenAttention(args, prompts, query, gathered(cache.key), gathered(cache.value)));
}

} // namespace

at::Tensor attentionOnTables(const AttentionArgs& args, PagedKvView& cache, const PagedTables& tables) {
    at::Tensor output = emptyAttention(args);
    checkPages(args, cache);
    checkTables(args, tables);
    if (args.query.size(2) == 0)
        return output;
    const at::Tensor positions = args.positions.contiguous();
    const PagePlaces places = placesOf(positions, cache, tables);
    store(args, cache, places);
    if (output.numel() == 0)
        return output;
    const bool apart = promptTokens(tables) > 0 && flashKnows(args);
    if (apart)
        attendPrompts(args, cache, tables.prompts, output);
    if (!apart || tables.singles.size(0) > 0)
        attendRows(args, cache, places, apart ? tables.singles : at::Tensor(), tables.mostKeys, output);
    return output;
}

} // namespace workbench::ops
