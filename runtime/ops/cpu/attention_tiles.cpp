#include "runtime/ops/cpu/attention_tiles.h"

#include "runtime/ops/cpu/attention_softmax.h"
#include "runtime/ops/cpu/head_rows.h"

#include <ATen/native/CPUBlas.h>

#include <cstring>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

using at::native::cpublas::brgemm;

/// Rows per product. Products always have full tiles, padded with zeros: the kernels behind brgemm are made
/// once per shape.
constexpr int64_t kProductRows = 32;

int64_t roundUp(int64_t count, int64_t step) {
    return (count + step - 1) / step * step;
}

/// One thread's tiles, float32. A row is one query of one head: row = query * groups + group.
struct Scratch {
    std::vector<float> query;  // [rows][width]
    std::vector<float> keys;   // [kTileKeys][width], then transposed
    std::vector<float> keysT;  // [width][kTileKeys]
    std::vector<float> values; // [kTileKeys][value width]
    std::vector<float> scores; // [rows][kTileKeys]
    std::vector<float> output; // [rows][value width]
    std::vector<RowState<float>> states;

    void reset(const AttentionCall& call, int64_t rows) {
        query.assign(static_cast<size_t>(rows * call.width), 0);
        keys.resize(static_cast<size_t>(kTileKeys * call.width));
        keysT.resize(static_cast<size_t>(kTileKeys * call.width));
        values.resize(static_cast<size_t>(kTileKeys * call.valueWidth));
        scores.resize(static_cast<size_t>(rows * kTileKeys));
        output.assign(static_cast<size_t>(rows * call.valueWidth), 0);
        states.assign(static_cast<size_t>(rows), {});
    }
};

template <typename T>
void widenRow(const T* from, float* to, int64_t width) {
    forEachVector<T>(width, [&](int64_t offset, int64_t count) {
        const auto x = Wide<T>::load(from + offset, count);
        for (int part = 0; part < Wide<T>::kParts; ++part) {
            const int64_t done = part * Wide<T>::Vec::size();
            const int64_t size = std::clamp<int64_t>(count - done, 0, Wide<T>::Vec::size());
            if (size > 0)
                x.parts[part].store(to + offset + done, static_cast<int>(size));
        }
    });
}

/// Rows past `count` become zero: their products are thrown away, but must not be NaN.
template <typename T>
void widenRows(const HeadRows<T>& from, int64_t first, int64_t count, int64_t width, float* to) {
    from.forRuns(first, count, [&](const T* rows, int64_t done, int64_t size) {
        for (int64_t j = 0; j < size; ++j)
            widenRow(rows + j * from.rowStride, to + (done + j) * width, width);
    });
    std::fill(to + count * width, to + kTileKeys * width, 0.0F);
}

void transposeKeys(const float* keys, int64_t width, float* keysT) {
    constexpr int64_t kBlock = 16;
    for (int64_t d = 0; d < width; d += kBlock) {
        const auto columns = static_cast<int>(std::min(kBlock, width - d));
        for (int64_t j = 0; j < kTileKeys; j += kBlock)
            at::vec::transpose_mxn<float>(keys + j * width + d, width, keysT + d * kTileKeys + j, kTileKeys,
                                          kBlock, columns);
    }
}

/// The part of a tile's keys that a row sees, counted from the tile's first key.
KeyRange seenInTile(const AttentionCall& call, const AttentionSpan& span, int64_t query, int64_t first,
                    int64_t count) {
    const KeyRange seen = visibleKeys(call, span, query);
    return {std::clamp<int64_t>(seen.begin - first, 0, count),
            std::clamp<int64_t>(seen.end - first, 0, count)};
}

void softmaxRow(const AttentionCall& call, int64_t head, int64_t distance, KeyRange seen, float* scores,
                float* output, RowState<float>& state) {
    if (seen.begin >= seen.end) {
        std::fill(scores, scores + kTileKeys, 0.0F);
        return;
    }
    const float factor =
        softmaxTile(call, head, distance + seen.begin, scores + seen.begin, seen.end - seen.begin, state);
    std::fill(scores, scores + seen.begin, 0.0F);
    std::fill(scores + seen.end, scores + kTileKeys, 0.0F);
    if (factor != 1) {
        at::vec::map<float>([factor](const auto& x) { return x * at::vec::Vectorized<float>(factor); },
                            output, output, call.valueWidth);
    }
}

class TileTask {
public:
    TileTask(const AttentionCall& call, const AttentionTask& task, Scratch& scratch)
        : m_call(call), m_task(task), m_span(call.spans[static_cast<size_t>(task.span)]), m_scratch(scratch),
          m_rows((task.queryEnd - task.queryBegin) * call.groups()),
          m_paddedRows(roundUp(m_rows, kProductRows)) {
        scratch.reset(call, m_paddedRows);
    }

    template <typename T>
    void run() {
        for (int64_t row = 0; row < m_rows; ++row)
            widenRow(static_cast<const T*>(m_span.query) + headOf(row) * m_call.queryStrides[0] +
                         queryOf(row) * m_call.queryStrides[1],
                     m_scratch.query.data() + row * m_call.width, m_call.width);
        for (int64_t first = m_task.keyBegin; first < m_task.keyEnd; first += kTileKeys)
            attend<T>(first, std::min(kTileKeys, m_task.keyEnd - first));
        write<T>();
    }

private:
    int64_t queryOf(int64_t row) const { return m_task.queryBegin + row / m_call.groups(); }
    int64_t headOf(int64_t row) const { return m_task.kvHead * m_call.groups() + row % m_call.groups(); }

    template <typename T>
    void attend(int64_t first, int64_t count) {
        const int64_t width = m_call.width;
        widenRows(keyRows<T>(m_call, m_span, m_task.kvHead), first, count, width, m_scratch.keys.data());
        transposeKeys(m_scratch.keys.data(), width, m_scratch.keysT.data());
        widenRows(valueRows<T>(m_call, m_span, m_task.kvHead), first, count, m_call.valueWidth,
                  m_scratch.values.data());
        for (int64_t row = 0; row < m_paddedRows; row += kProductRows) {
            float* scores = m_scratch.scores.data() + row * kTileKeys;
            float* output = m_scratch.output.data() + row * m_call.valueWidth;
            const int64_t end = std::min(row + kProductRows, m_rows);
            if (!anySeen(row, end, first, count))
                continue;
            brgemm(kProductRows, kTileKeys, width, width, kTileKeys, kTileKeys, false,
                   m_scratch.query.data() + row * width, m_scratch.keysT.data(), scores, false);
            softmaxRows(row, end, first, count);
            brgemm(kProductRows, m_call.valueWidth, kTileKeys, kTileKeys, m_call.valueWidth,
                   m_call.valueWidth, true, scores, m_scratch.values.data(), output, false);
        }
    }

    bool anySeen(int64_t row, int64_t end, int64_t first, int64_t count) const {
        // Ranges move forward with the query: the union of a block's ranges is one range.
        const KeyRange a = visibleKeys(m_call, m_span, queryOf(row));
        const KeyRange b = visibleKeys(m_call, m_span, queryOf(end - 1));
        return a.begin < first + count && b.end > first;
    }

    void softmaxRows(int64_t begin, int64_t end, int64_t first, int64_t count) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t query = queryOf(row);
            softmaxRow(m_call, headOf(row), first - (m_span.firstQuery + query),
                       seenInTile(m_call, m_span, query, first, count),
                       m_scratch.scores.data() + row * kTileKeys,
                       m_scratch.output.data() + row * m_call.valueWidth,
                       m_scratch.states[static_cast<size_t>(row)]);
        }
    }

    template <typename T>
    void write() const {
        for (int64_t row = 0; row < m_rows; ++row) {
            T* to = static_cast<T*>(m_span.output) + headOf(row) * m_call.outputStrides[0] +
                    queryOf(row) * m_call.outputStrides[1];
            const float factor = finalFactor(m_call, headOf(row), m_scratch.states[static_cast<size_t>(row)]);
            const float* from = m_scratch.output.data() + row * m_call.valueWidth;
            for (int64_t d = 0; d < m_call.valueWidth; ++d)
                to[d] = static_cast<T>(from[d] * factor);
        }
    }

    const AttentionCall& m_call;
    const AttentionTask& m_task;
    const AttentionSpan& m_span;
    Scratch& m_scratch;
    int64_t m_rows;
    int64_t m_paddedRows;
};

} // namespace

template <typename T>
void attendTiles(const AttentionCall& call, const AttentionTask& task) {
    thread_local Scratch scratch;
    TileTask(call, task, scratch).template run<T>();
}

template void attendTiles<float>(const AttentionCall&, const AttentionTask&);
template void attendTiles<c10::BFloat16>(const AttentionCall&, const AttentionTask&);
template void attendTiles<c10::Half>(const AttentionCall&, const AttentionTask&);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
