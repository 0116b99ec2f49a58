// Attention over sequences that lie side by side: which keys each query sees, and how the work is cut into
// tasks. No LibTorch tensors.
#pragma once

#include "runtime/ops/op_types.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <vector>

namespace workbench::ops {

/// A maximal run of consecutive positions: tokens [begin, end) of the call, the first at `position`.
struct Run {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t position = 0;
};

std::vector<Run> findRuns(const int64_t* positions, int64_t count);

/// The queries and keys of one sequence. Key j stands at position firstPosition + j, query i at that of key
/// firstQuery + i.
struct AttentionSpan {
    int64_t queries = 0;
    int64_t keys = 0;
    int64_t firstQuery = 0;
    int64_t firstPosition = 0;
    const void* query = nullptr;
    const void* key = nullptr;
    const void* value = nullptr;
    void* output = nullptr;
    // Of a paged cache: key j lies in slot j % blockTokens of block blocks[j / blockTokens], counted from
    // `key`.
    const int32_t* blocks = nullptr;
};

struct KeyRange {
    int64_t begin = 0;
    int64_t end = 0;
};

/// A part of one span's work: queries [queryBegin, queryEnd) of all query heads that share `kvHead`, over
/// keys [keyBegin, keyEnd).
struct AttentionTask {
    int64_t span = 0;
    int64_t kvHead = 0;
    int64_t queryBegin = 0;
    int64_t queryEnd = 0;
    int64_t keyBegin = 0;
    int64_t keyEnd = 0;
    int64_t partial =
        -1; // where the unfinished result goes when the key range is split, -1: straight to the output
};

/// Partial results [firstPartial, firstPartial + count) are the parts of one key range, for the only query of
/// `span`.
struct AttentionJoin {
    int64_t span = 0;
    int64_t kvHead = 0;
    int64_t firstPartial = 0;
    int64_t count = 0;
};

struct AttentionPlan {
    std::vector<AttentionTask> tasks; // heaviest first
    std::vector<AttentionJoin> joins;
    int64_t partials = 0;
};

/// One attention call. Strides in elements; the last dimension of every tensor is contiguous.
struct AttentionCall {
    c10::ScalarType dtype = c10::ScalarType::Float;
    int64_t queryHeads = 0;
    int64_t kvHeads = 0;
    int64_t width = 0;                // of query and key
    int64_t valueWidth = 0;           // of value and output
    int64_t queryStrides[2] = {0, 0}; // head, token
    int64_t keyStrides[2] = {0, 0};
    int64_t valueStrides[2] = {0, 0};
    int64_t outputStrides[2] = {0, 0};
    int64_t blockTokens = 0; // of spans with blocks
    int64_t keyBlockStride = 0;
    int64_t valueBlockStride = 0;
    double scale = 1;
    double softcap = 0;
    MaskKind mask = MaskKind::Causal;
    int64_t window = 0;
    const double* sinks = nullptr;  // [queryHeads] or null
    const double* slopes = nullptr; // [queryHeads] or null
    std::vector<AttentionSpan> spans;
    // Instead of spans where positions are in device memory: one span of all tokens, cut into runs by the
    // kernel.
    const int64_t* devicePositions = nullptr;

    int64_t groups() const { return queryHeads / kvHeads; }
};

/// The keys that query `query` (index within the span) sees: always one contiguous range.
KeyRange visibleKeys(const AttentionCall& call, const AttentionSpan& span, int64_t query);

/// Query rows (queries times heads per key head) of a task that is computed as matrix products.
constexpr int64_t kTaskRows = 256;
/// A span with fewer query rows than this is computed row by row.
constexpr int64_t kMinTileRows = 16;

bool usesTiles(const AttentionCall& call, const AttentionSpan& span);

/// Key ranges of single queries are split when there are fewer heads than threads could share evenly.
AttentionPlan planTasks(const AttentionCall& call, int threads);

} // namespace workbench::ops
