#include "runtime/ops/cpu/attention_rows.h"

#include "runtime/ops/cpu/attention_softmax.h"
#include "runtime/ops/cpu/head_rows.h"

#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// Heads whose dot products share one read of a key row; more would run out of registers.
constexpr int kHeadBlock = 4;

/// How far ahead rows are asked for. Rows of one head lie apart in a cache that is ordered by token, and
/// hardware does not foresee such strides: 35 instead of 5 GB/s from the last-level cache were measured for
/// rows of 128 bytes with a stride of 384.
constexpr int64_t kPrefetchRows = 32;

template <typename T>
void prefetchRow(const T* row, int64_t width) {
    constexpr int64_t kLine = 64 / sizeof(T);
    for (int64_t d = 0; d < width; d += kLine)
        __builtin_prefetch(row + d); // harmless past the end of the buffer
}

/// scores[g][j] = query[g] . key[j], for kCount heads and `count` keys. Queries are widened.
template <typename T, int kCount>
void dotKeys(const Acc<T>* query, const T* key, int64_t keyStride, int64_t width, int64_t count,
             Acc<T>* scores) {
    using Vec = typename Wide<T>::Vec;
    for (int64_t j = 0; j < count; ++j) {
        std::array<Wide<T>, kCount> totals;
        totals.fill(Wide<T>::fill(0));
        const T* row = key + j * keyStride;
        prefetchRow(row + kPrefetchRows * keyStride, width);
        forEachVector<T>(width, [&](int64_t offset, int64_t size) {
            const auto k = Wide<T>::load(row + offset, size);
            for (int g = 0; g < kCount; ++g) {
                for (int part = 0; part < Wide<T>::kParts; ++part) {
                    // Padded queries: reading past `size` stays inside of the row's buffer and meets zeros of
                    // k.
                    const Vec q = Vec::loadu(query + g * paddedWidth<T>(width) + offset + part * Vec::size());
                    totals[g].parts[part] = at::vec::fmadd(k.parts[part], q, totals[g].parts[part]);
                }
            }
        });
        for (int g = 0; g < kCount; ++g)
            scores[g * kTileKeys + j] = totals[g].sum();
    }
}

/// output[g] = output[g] * factor[g] + sum_j probability[g][j] * value[j], for kCount heads.
template <typename T, int kCount>
void addValues(const Acc<T>* probabilities, const Acc<T>* factors, const T* value, int64_t valueStride,
               int64_t width, int64_t count, Acc<T>* output) {
    using Vec = typename Wide<T>::Vec;
    forEachVector<T>(width, [&](int64_t offset, int64_t size) {
        std::array<Wide<T>, kCount> totals;
        for (int g = 0; g < kCount; ++g) {
            for (int part = 0; part < Wide<T>::kParts; ++part)
                totals[g].parts[part] =
                    Vec::loadu(output + g * paddedWidth<T>(width) + offset + part * Vec::size()) *
                    Vec(factors[g]);
        }
        for (int64_t j = 0; j < count; ++j) {
            const T* row = value + j * valueStride + offset;
            __builtin_prefetch(row + kPrefetchRows * valueStride);
            const auto v = Wide<T>::load(row, size);
            for (int g = 0; g < kCount; ++g) {
                const Vec p(probabilities[g * kTileKeys + j]);
                for (int part = 0; part < Wide<T>::kParts; ++part)
                    totals[g].parts[part] = at::vec::fmadd(p, v.parts[part], totals[g].parts[part]);
            }
        }
        for (int g = 0; g < kCount; ++g) {
            for (int part = 0; part < Wide<T>::kParts; ++part)
                totals[g].parts[part].store(output + g * paddedWidth<T>(width) + offset + part * Vec::size());
        }
    });
}

/// Calls function.template operator()<n>(first) for the heads [0, groups) in blocks of n <= kHeadBlock.
template <typename F>
void forHeadBlocks(int64_t groups, F&& function) {
    int64_t first = 0;
    for (; first + kHeadBlock <= groups; first += kHeadBlock)
        function.template operator()<kHeadBlock>(first);
    switch (groups - first) {
    case 3:
        function.template operator()<3>(first);
        break;
    case 2:
        function.template operator()<2>(first);
        break;
    case 1:
        function.template operator()<1>(first);
        break;
    default:
        break;
    }
}

template <typename T>
struct Scratch {
    using S = Acc<T>;
    std::vector<S> query;         // [groups][padded width]
    std::vector<S> output;        // [groups][padded value width]
    std::vector<S> scores;        // [groups][kTileKeys]
    std::vector<S> factors;       // [groups]
    std::vector<S> ones;          // [groups]
    std::vector<RowState<S>> row; // [groups]

    void reset(const AttentionCall& call) {
        const auto groups = static_cast<size_t>(call.groups());
        query.assign(groups * static_cast<size_t>(paddedWidth<T>(call.width)), 0);
        output.assign(groups * static_cast<size_t>(paddedWidth<T>(call.valueWidth)), 0);
        scores.resize(groups * kTileKeys);
        factors.resize(groups);
        ones.assign(groups, 1);
        row.assign(groups, {});
    }
};

template <typename T>
void readQuery(const AttentionCall& call, const T* query, Scratch<T>& scratch) {
    for (int64_t g = 0; g < call.groups(); ++g) {
        for (int64_t d = 0; d < call.width; ++d)
            scratch.query[static_cast<size_t>(g * paddedWidth<T>(call.width) + d)] =
                static_cast<Acc<T>>(query[g * call.queryStrides[0] + d]);
    }
}

template <typename T>
void attendTile(const AttentionCall& call, const AttentionTask& task, const HeadRows<T>& keys,
                const HeadRows<T>& values, int64_t first, int64_t count, int64_t distance,
                Scratch<T>& scratch) {
    keys.forRuns(first, count, [&](const T* key, int64_t done, int64_t size) {
        forHeadBlocks(call.groups(), [&]<int kCount>(int64_t head) {
            dotKeys<T, kCount>(scratch.query.data() + head * paddedWidth<T>(call.width), key, keys.rowStride,
                               call.width, size, scratch.scores.data() + head * kTileKeys + done);
        });
    });
    for (int64_t g = 0; g < call.groups(); ++g) {
        const auto index = static_cast<size_t>(g);
        scratch.factors[index] =
            softmaxTile(call, task.kvHead * call.groups() + g, distance,
                        scratch.scores.data() + g * kTileKeys, count, scratch.row[index]);
    }
    values.forRuns(first, count, [&](const T* value, int64_t done, int64_t size) {
        // What came before this tile is scaled once.
        const Acc<T>* factors = done == 0 ? scratch.factors.data() : scratch.ones.data();
        forHeadBlocks(call.groups(), [&]<int kCount>(int64_t head) {
            addValues<T, kCount>(scratch.scores.data() + head * kTileKeys + done, factors + head, value,
                                 values.rowStride, call.valueWidth, size,
                                 scratch.output.data() + head * paddedWidth<T>(call.valueWidth));
        });
    });
}

template <typename T>
void writeRow(const Acc<T>* row, Acc<T> factor, T* output, int64_t width) {
    for (int64_t d = 0; d < width; ++d)
        output[d] = static_cast<T>(row[d] * factor);
}

template <typename T>
void writeOutput(const AttentionCall& call, const AttentionTask& task, int64_t query,
                 const Scratch<T>& scratch) {
    const AttentionSpan& span = call.spans[static_cast<size_t>(task.span)];
    for (int64_t g = 0; g < call.groups(); ++g) {
        const int64_t head = task.kvHead * call.groups() + g;
        T* output =
            static_cast<T*>(span.output) + head * call.outputStrides[0] + query * call.outputStrides[1];
        writeRow(scratch.output.data() + g * paddedWidth<T>(call.valueWidth),
                 finalFactor(call, head, scratch.row[static_cast<size_t>(g)]), output, call.valueWidth);
    }
}

template <typename T>
void writePartial(const AttentionCall& call, const Scratch<T>& scratch, Acc<T>* partial) {
    for (int64_t g = 0; g < call.groups(); ++g) {
        Acc<T>* to = partial + g * partialWidth(call);
        to[0] = scratch.row[static_cast<size_t>(g)].max;
        to[1] = scratch.row[static_cast<size_t>(g)].sum;
        std::copy_n(scratch.output.data() + g * paddedWidth<T>(call.valueWidth), call.valueWidth, to + 2);
    }
}

} // namespace

template <typename T>
void attendRows(const AttentionCall& call, const AttentionTask& task, Acc<T>* partials) {
    thread_local Scratch<T> scratch;
    const AttentionSpan& span = call.spans[static_cast<size_t>(task.span)];
    const HeadRows<T> keys = keyRows<T>(call, span, task.kvHead);
    const HeadRows<T> values = valueRows<T>(call, span, task.kvHead);
    for (int64_t query = task.queryBegin; query < task.queryEnd; ++query) {
        scratch.reset(call);
        readQuery(call,
                  static_cast<const T*>(span.query) + task.kvHead * call.groups() * call.queryStrides[0] +
                      query * call.queryStrides[1],
                  scratch);
        const KeyRange seen = visibleKeys(call, span, query);
        const int64_t end = std::min(seen.end, task.keyEnd);
        for (int64_t first = std::max(seen.begin, task.keyBegin); first < end; first += kTileKeys) {
            attendTile(call, task, keys, values, first, std::min(kTileKeys, end - first),
                       first - (span.firstQuery + query), scratch);
        }
        if (task.partial < 0)
            writeOutput(call, task, query, scratch);
        else
            writePartial(call, scratch, partials + task.partial * call.groups() * partialWidth(call));
    }
}

template <typename T>
void joinPartials(const AttentionCall& call, const AttentionJoin& join, const Acc<T>* partials) {
    using S = Acc<T>;
    const AttentionSpan& span = call.spans[static_cast<size_t>(join.span)];
    std::vector<S> total(static_cast<size_t>(call.valueWidth));
    for (int64_t g = 0; g < call.groups(); ++g) {
        const auto part = [&](int64_t i) {
            return partials + ((join.firstPartial + i) * call.groups() + g) * partialWidth(call);
        };
        RowState<S> state;
        for (int64_t i = 0; i < join.count; ++i)
            state.max = std::max(state.max, part(i)[0]);
        std::fill(total.begin(), total.end(), S(0));
        for (int64_t i = 0; i < join.count; ++i) {
            const S factor = std::exp(part(i)[0] - state.max);
            state.sum += factor * part(i)[1];
            for (size_t d = 0; d < total.size(); ++d)
                total[d] += factor * part(i)[2 + d];
        }
        const int64_t head = join.kvHead * call.groups() + g;
        writeRow(total.data(), finalFactor(call, head, state),
                 static_cast<T*>(span.output) + head * call.outputStrides[0], call.valueWidth);
    }
}

#define WORKBENCH_INSTANTIATE(T)                                                                             \
    template void attendRows<T>(const AttentionCall&, const AttentionTask&, Acc<T>*);                        \
    template void joinPartials<T>(const AttentionCall&, const AttentionJoin&, const Acc<T>*);
WORKBENCH_INSTANTIATE(float)
WORKBENCH_INSTANTIATE(double)
WORKBENCH_INSTANTIATE(c10::BFloat16)
WORKBENCH_INSTANTIATE(c10::Half)
#undef WORKBENCH_INSTANTIATE

} // namespace workbench::ops::cpu::WORKBENCH_ISA
