// Attention over pages in the form that a GPU runs it: the same parts, joined by the same formula, but plain.
// Nothing on a CPU has to be fast here: attentionPaged() is.
#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/wide.h"
#include "runtime/ops/paged_plan.h"
#include "runtime/ops/thread_pool.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// Elements between the first of the pages and the row of a head at a position of a sequence.
int64_t rowOffset(const PagePlaces& places, int64_t sequence, int64_t position, const int64_t (&strides)[3],
                  int64_t head) {
    const int64_t block = places.blocks[sequence * places.blockColumns + position / places.blockTokens];
    return block * strides[0] + head * strides[1] + position % places.blockTokens * strides[2];
}

void storeToken(const StorePagesCall& call, int64_t token) {
    const auto size = static_cast<int64_t>(c10::elementSize(call.dtype));
    for (int side = 0; side < 2; ++side) {
        const auto* from = static_cast<const char*>(call.fresh[side]);
        auto* to = static_cast<char*>(call.pages[side]);
        for (int64_t head = 0; head < call.kvHeads; ++head) {
            const int64_t place = rowOffset(call.places, call.places.sequences[token],
                                            call.places.positions[token], call.pageStrides[side], head);
            const int64_t source = head * call.freshStrides[side][0] + token * call.freshStrides[side][1];
            std::memcpy(to + place * size, from + source * size,
                        static_cast<size_t>(call.widths[side] * size));
        }
    }
}

/// One token and query head.
template <typename T>
struct PagedRow {
    using S = Acc<T>;
    const PagedRowsCall& call;
    int64_t token;
    int64_t head;

    int64_t kvHead() const { return head / (call.queryHeads / call.kvHeads); }
    int64_t position() const { return call.places.positions[token]; }
    int64_t sequence() const { return call.places.sequences[token]; }

    S logit(int64_t key) const {
        const T* query =
            static_cast<const T*>(call.query) + head * call.queryStrides[0] + token * call.queryStrides[1];
        const T* row = static_cast<const T*>(call.key) +
                       rowOffset(call.places, sequence(), key, call.keyStrides, kvHead());
        S dot = 0;
        for (int64_t d = 0; d < call.width; ++d)
            dot += static_cast<S>(query[d]) * static_cast<S>(row[d]);
        dot *= static_cast<S>(call.scale);
        if (call.softcap != 0)
            dot = static_cast<S>(call.softcap) * std::tanh(dot / static_cast<S>(call.softcap));
        return call.slopes == nullptr
                   ? dot
                   : dot + static_cast<S>(call.slopes[head]) * static_cast<S>(key - position());
    }

    /// Maximum, sum and values over keys [begin, end).
    void attend(int64_t begin, int64_t end, S* partial) const {
        partial[0] = -std::numeric_limits<S>::infinity();
        partial[1] = 0;
        std::vector<S> scores(static_cast<size_t>(end - begin));
        for (int64_t key = begin; key < end; ++key)
            scores[static_cast<size_t>(key - begin)] = logit(key);
        for (const S score : scores)
            partial[0] = std::max(partial[0], score);
        std::fill_n(partial + 2, call.valueWidth, S(0));
        for (int64_t key = begin; key < end; ++key) {
            const S p = std::exp(scores[static_cast<size_t>(key - begin)] - partial[0]);
            const T* row = static_cast<const T*>(call.value) +
                           rowOffset(call.places, sequence(), key, call.valueStrides, kvHead());
            partial[1] += p;
            for (int64_t d = 0; d < call.valueWidth; ++d)
                partial[2 + d] += p * static_cast<S>(row[d]);
        }
    }

    /// A sink is one more logit in the denominator.
    void join(const S* partials, int64_t parts) const {
        const int64_t stride = call.valueWidth + 2;
        S max = -std::numeric_limits<S>::infinity();
        for (int64_t part = 0; part < parts; ++part)
            max = std::max(max, partials[part * stride]);
        S sum = call.sinks == nullptr ? S(0) : std::exp(static_cast<S>(call.sinks[head]) - max);
        std::vector<S> total(static_cast<size_t>(call.valueWidth), 0);
        for (int64_t part = 0; part < parts; ++part) {
            const S* partial = partials + part * stride;
            const S factor = std::exp(partial[0] - max);
            sum += factor * partial[1];
            for (int64_t d = 0; d < call.valueWidth; ++d)
                total[static_cast<size_t>(d)] += factor * partial[2 + d];
        }
        T* output = static_cast<T*>(call.output) + (token * call.queryHeads + head) * call.valueWidth;
        for (int64_t d = 0; d < call.valueWidth; ++d)
            output[d] = static_cast<T>(total[static_cast<size_t>(d)] / sum);
    }
};

template <typename T>
void attendRow(const PagedRowsCall& call, int64_t row) {
    using S = Acc<T>;
    const int64_t token = call.tokens == nullptr ? row : call.tokens[row];
    const int64_t stride = call.valueWidth + 2;
    std::vector<S> onlyPart(call.partials == nullptr ? static_cast<size_t>(stride) : 0);
    for (int64_t head = 0; head < call.queryHeads; ++head) {
        const PagedRow<T> one{call, token, head};
        const KeyRange keys = visibleAt(call.mask, call.window, one.position());
        S* partials = call.partials == nullptr ? onlyPart.data()
                                               : static_cast<S*>(call.partials) +
                                                     (row * call.queryHeads + head) * call.parts * stride;
        const int64_t parts = std::min(partsWith(keys, call.partKeys), call.parts);
        for (int64_t part = 0; part < parts; ++part) {
            const int64_t begin = keys.begin + part * call.partKeys;
            one.attend(begin, std::min(keys.end, begin + call.partKeys), partials + part * stride);
        }
        one.join(partials, parts);
    }
}

} // namespace

void storePages(const StorePagesCall& call) {
    const int64_t width = call.kvHeads * (call.widths[0] + call.widths[1]);
    parallelFor(call.tokens, rowGrain(width), [&](int64_t begin, int64_t end) {
        for (int64_t token = begin; token < end; ++token)
            storeToken(call, token);
    });
}

void pagedRows(const PagedRowsCall& call) {
    parallelFor(call.rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            WORKBENCH_DISPATCH(call.dtype, attendRow<T>(call, row))
        }
    });
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
