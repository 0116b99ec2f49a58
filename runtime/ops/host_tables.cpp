#include "runtime/ops/host_tables.h"

#include "runtime/ops/attention_bind.h"
#include "runtime/ops/prompt_lists.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <vector>

namespace workbench::ops {
namespace {

/// What the host knows of a call.
struct Host {
    at::Tensor positions; // int64 [T]
    at::Tensor sequences; // int32 [T]
    at::Tensor blocks;    // int32 [S, W]
    int64_t blockTokens = 0;
    int64_t cacheBlocks = 0;

    int64_t position(int64_t token) const { return positions.const_data_ptr<int64_t>()[token]; }
    int32_t sequence(int64_t token) const { return sequences.const_data_ptr<int32_t>()[token]; }
    int32_t block(int32_t sequence, int64_t position) const {
        return blocks.const_data_ptr<int32_t>()[sequence * blocks.size(1) + position / blockTokens];
    }
};

/// Tokens of each sequence in the call.
using Members = std::map<int32_t, std::vector<int64_t>>;

Members membersOf(const Host& host) {
    Members members;
    for (int64_t token = 0; token < host.positions.size(0); ++token) {
        const int32_t sequence = host.sequence(token);
        TORCH_CHECK_VALUE(sequence >= 0 && sequence < host.blocks.size(0), "workbench::attention: sequence ",
                          sequence, " of token ", token, " is not one of the ", host.blocks.size(0),
                          " that have blocks.");
        const int64_t position = host.position(token);
        TORCH_CHECK_VALUE(position >= 0 && position < host.blocks.size(1) * host.blockTokens,
                          "workbench::attention: position ", position, " is past the sequence's ",
                          host.blocks.size(1), " blocks of ", host.blockTokens, " tokens.");
        std::vector<int64_t>& tokens = members[sequence];
        TORCH_CHECK_VALUE(tokens.empty() || host.position(tokens.back()) + 1 == position,
                          "workbench::attention: positions of a sequence must be consecutive, got ", position,
                          " after ", tokens.empty() ? 0 : host.position(tokens.back()), ".");
        tokens.push_back(token);
    }
    return members;
}

void checkBlocks(const Host& host, int32_t sequence, KeyRange keys) {
    for (int64_t position = keys.begin; position < keys.end; ++position) {
        const int32_t block = host.block(sequence, position);
        TORCH_CHECK_VALUE(block >= 0 && block < host.cacheBlocks, "workbench::attention: block ", block,
                          " of a sequence is not one of the cache's ", host.cacheBlocks, ".");
    }
}

} // namespace

PagedTables hostTables(const AttentionArgs& args, const PagedKvView& cache, const at::Tensor& sequences,
                       const at::Tensor& blocks) {
    checkAttention(args);
    checkPages(args, cache);
    TORCH_CHECK_VALUE(sequences.dim() == 1 && sequences.scalar_type() == at::kInt &&
                          sequences.size(0) == args.query.size(2) && blocks.dim() == 2 &&
                          blocks.scalar_type() == at::kInt,
                      "workbench::attention: sequences must be [tokens] int32 and blocks [sequences, blocks] "
                      "int32, got ",
                      sequences.sizes(), " ", sequences.scalar_type(), " and ", blocks.sizes(), " ",
                      blocks.scalar_type(), ".");
    const Host host{args.positions.select(0, 0).cpu().contiguous(), sequences.cpu().contiguous(),
                    blocks.cpu().contiguous(), cache.key.size(2), cache.key.size(0)};
    PagedTables tables;
    tables.sequences = sequences.contiguous();
    tables.blocks = blocks.contiguous();
    std::vector<int64_t> singles;
    PromptLists prompts;
    for (const auto& [sequence, tokens] : membersOf(host)) {
        const KeyRange first = visibleAt(args.mask, args.window, host.position(tokens.front()));
        const KeyRange last = visibleAt(args.mask, args.window, host.position(tokens.back()));
        checkBlocks(host, sequence, {first.begin, last.end});
        tables.mostKeys = std::max(tables.mostKeys, last.end);
        if (tokens.size() == 1) {
            singles.push_back(tokens.front());
            continue;
        }
        const int32_t* row = host.blocks.const_data_ptr<int32_t>() + sequence * host.blocks.size(1);
        prompts.add(tokens, {first.begin, last.end}, row, host.blockTokens);
    }
    if (prompts.empty())
        return tables;
    tables.singles = onDevice(singles, args.query.device());
    tables.prompts = prompts.on(args.query.device());
    return tables;
}

} // namespace workbench::ops
