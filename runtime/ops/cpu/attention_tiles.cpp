#include "runtime/ops/cpu/attention_tiles.h"

#include "runtime/ops/cpu/attention_softmax.h"
#include "runtime/ops/cpu/head_rows.h"
#include "runtime/ops/cpu/linear_tile.h"
#include "runtime/ops/cpu/wide.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// What products for T are made of: half precision is widened first.
template <typename T>
using Product = std::conditional_t<std::is_same_v<T, c10::Half>, float, T>;

static_assert(kTileKeys % kPanelRows == 0);

constexpr int64_t roundUp(int64_t count, int64_t step) {
    return (count + step - 1) / step * step;
}

/// Elements that begin at a line of the cache: a load of 64 bytes across two takes twice as long.
template <typename E>
class Lines {
public:
    E* resize(int64_t count) {
        const size_t lines = (static_cast<size_t>(count) * sizeof(E) + sizeof(Line) - 1) / sizeof(Line);
        if (m_lines.size() < lines)
            m_lines.resize(lines);
        return data();
    }
    E* data() { return reinterpret_cast<E*>(m_lines.data()); }

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::vector<Line> m_lines;
};

/// One thread's tiles. A row is one query of one head: row = query * groups + group. Keys and values are
/// packed as the weights of products are: keys with a key as an output, values with a column of theirs.
template <typename T>
struct Scratch {
    using W = Product<T>;
    using Operand = typename Lanes<W>::Operand;

    std::vector<T> zeros;         // a key or value that is not there
    Lines<W> wide;                // [16][filled width], keys on their way into a panel
    Lines<W> keys;                // [kTileKeys / 16] panels of [filled width][16]
    Lines<W> values;              // [value panels] of [kTileKeys][16]
    Lines<Operand> probabilities; // [rows of a tile][keys]
    Lines<Operand> query;         // [rows][filled width]
    Lines<float> scores;          // [rows of a tile][keys]
    Lines<float> output;          // [rows][value panels * 16]
    std::vector<RowState<float>> states;
};

/// Converts one row.
template <typename T, typename To>
void copyRow(const T* from, To* to, int64_t width) {
    if constexpr (std::is_same_v<T, To>) {
        std::memcpy(to, from, static_cast<size_t>(width) * sizeof(T));
    } else {
        static_assert(std::is_same_v<To, float>);
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
}

/// e to the power of x, for x of at most 0 (minus infinity and what would be a denormal number give 0),
/// within 2 units in the last place. The reduction and the polynomial are those of expf in Moshier's Cephes.
Sixteen exponential(const Sixteen& x) {
    constexpr float kLeast = -87.33654F;
    const Sixteen within = maximum(fill(kLeast), x); // of two that cannot be compared, the second: NaN stays
    const Sixteen power = nearest(multiply(within, fill(1.44269504F)));
    const Sixteen r =
        multiplyAdd(power, fill(2.12194440e-4F), multiplyAdd(power, fill(-0.693359375F), within));
    Sixteen y = fill(1.9875691500e-4F);
    for (const float coefficient :
         {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F})
        y = multiplyAdd(y, r, fill(coefficient));
    y = add(multiplyAdd(multiply(r, r), y, r), fill(1));
    return keptFrom(timesPower(y, power), x, kLeast);
}

/// Scales, bends and tilts raw scores of `count` keys, the first of which stands `distance` from the query.
void finishScores(const AttentionCall& call, int64_t head, int64_t distance, float* scores, int64_t count) {
    using Vec = at::vec::Vectorized<float>;
    const float slope = call.slopes != nullptr ? static_cast<float>(call.slopes[head]) : 0.0F;
    const Vec softcap(static_cast<float>(call.softcap));
    for (int64_t j = 0; j < count; j += Vec::size()) {
        Vec x = Vec::loadu(scores + j) * Vec(static_cast<float>(call.scale));
        if (call.softcap != 0)
            x = (x / softcap).tanh() * softcap;
        if (slope != 0)
            x = x + Vec(slope) * Vec::arange(static_cast<float>(distance + j), 1.0F);
        x.store(scores + j);
    }
}

/// Turns the scores of `count` keys, whole panels, of which a row sees [seen.begin, seen.end), into
/// unnormalised probabilities. Returns the factor for what was accumulated before.
float softmax(const AttentionCall& call, int64_t head, int64_t distance, KeyRange seen, float* scores,
              int64_t count, RowState<float>& state) {
    constexpr float kUnseen = -std::numeric_limits<float>::infinity();
    const bool plain = call.softcap == 0 && call.slopes == nullptr && static_cast<float>(call.scale) > 0;
    if (!plain)
        finishScores(call, head, distance, scores, count);
    std::fill(scores, scores + seen.begin, kUnseen);
    std::fill(scores + seen.end, scores + count, kUnseen);
    const Sixteen scale = fill(plain ? static_cast<float>(call.scale) : 1.0F);
    Sixteen x[kTileKeys / kPanelRows];
    Sixteen most = fill(kUnseen);
    for (int64_t panel = 0; panel < count / kPanelRows; ++panel) {
        x[panel] = multiply(load(scores + panel * kPanelRows), scale);
        most = maximum(most, x[panel]);
    }
    const float newMax = std::max(state.max, largest(most));
    Sixteen sum = fill(0);
    for (int64_t panel = 0; panel < count / kPanelRows; ++panel) {
        const Sixteen p = exponential(subtract(x[panel], fill(newMax)));
        store(p, scores + panel * kPanelRows);
        sum = add(sum, p);
    }
    const float factor = state.max == newMax ? 1.0F : std::exp(state.max - newMax); // exp(-inf) = 0 at first
    state.max = newMax;
    state.sum = state.sum * factor + total(sum);
    return factor;
}

template <typename T>
class TileTask {
    using W = Product<T>;
    using L = Lanes<W>;
    using Operand = typename L::Operand;
    using Rows = std::array<const T*, kTileKeys>;

public:
    TileTask(const AttentionCall& call, const AttentionTask& task, Scratch<T>& scratch)
        : m_call(call), m_task(task), m_span(call.spans[static_cast<size_t>(task.span)]), m_scratch(scratch),
          m_groups(static_cast<uint32_t>(call.groups())), m_tiles{(task.queryEnd - task.queryBegin) *
                                                                  call.groups()},
          m_width(roundUp(call.width, sizeof(float) / sizeof(W))),
          m_valueWidth(roundUp(call.valueWidth, kPanelRows)) {
        const int64_t rows = m_tiles.rows;
        scratch.zeros.assign(static_cast<size_t>(std::max(call.width, call.valueWidth)), T(0));
        // What fills rows up to whole units is never written to.
        std::memset(scratch.wide.resize(kPanelRows * m_width), 0,
                    static_cast<size_t>(kPanelRows * m_width) * sizeof(W));
        scratch.keys.resize(kTileKeys * m_width);
        scratch.values.resize(kTileKeys * m_valueWidth);
        scratch.probabilities.resize(m_tiles.highest() * kTileKeys);
        scratch.query.resize(rows * m_width);
        scratch.scores.resize(m_tiles.highest() * kTileKeys);
        std::fill_n(scratch.output.resize(rows * m_valueWidth), rows * m_valueWidth, 0.0F);
        scratch.states.assign(static_cast<size_t>(rows), {});
    }

    void run() {
        readQueries();
        for (int64_t first = m_task.keyBegin; first < m_task.keyEnd; first += kTileKeys)
            attend(first, std::min(kTileKeys, m_task.keyEnd - first));
        write();
    }

private:
    // In 32 bits, where a division takes a third of the time.
    int64_t queryOf(int64_t row) const { return m_task.queryBegin + static_cast<uint32_t>(row) / m_groups; }
    int64_t headOf(int64_t row) const {
        return m_task.kvHead * m_groups + static_cast<uint32_t>(row) % m_groups;
    }

    void readQueries() {
        Operand* to = m_scratch.query.data();
        for (int64_t row = 0; row < m_tiles.rows; ++row, to += m_width) {
            const T* query = static_cast<const T*>(m_span.query) + headOf(row) * m_call.queryStrides[0] +
                             queryOf(row) * m_call.queryStrides[1];
            copyRow(query, to, m_call.width);
            std::fill(to + m_call.width, to + m_width, Operand(0));
        }
    }

    /// Where the rows of a tile's keys or values are. Those past `count` are zero: what they give is thrown
    /// away, but must not be NaN.
    Rows rowsOf(const HeadRows<T>& from, int64_t first, int64_t count) const {
        Rows rows;
        rows.fill(m_scratch.zeros.data());
        from.forRuns(first, count, [&](const T* row, int64_t done, int64_t size) {
            for (int64_t j = 0; j < size; ++j)
                rows[static_cast<size_t>(done + j)] = row + j * from.rowStride;
        });
        return rows;
    }

    /// A panel is its keys' units of 4 bytes, whatever they hold, turned from rows into columns.
    void packKeys(const Rows& rows, int64_t count) {
        const int64_t units = m_width * static_cast<int64_t>(sizeof(W)) / 4;
        W* wide = m_scratch.wide.data();
        for (int64_t key = 0; key < count; key += kPanelRows) {
            for (int64_t i = 0; i < kPanelRows; ++i)
                copyRow(rows[static_cast<size_t>(key + i)], wide + i * m_width, m_call.width);
            const auto* from = reinterpret_cast<const float*>(wide);
            auto* to = reinterpret_cast<float*>(m_scratch.keys.data() + key * m_width);
            int64_t unit = 0;
            for (; unit + kPanelRows <= units; unit += kPanelRows)
                at::vec::transpose_mxn<float, kPanelRows, kPanelRows>(from + unit, units,
                                                                      to + unit * kPanelRows, kPanelRows);
            if (unit < units)
                at::vec::transpose_mxn<float>(from + unit, units, to + unit * kPanelRows, kPanelRows,
                                              kPanelRows, static_cast<int>(units - unit));
        }
    }

    /// Columns past the values' width stay as they are: what they give is not read.
    void packValues(const Rows& rows, int64_t count) {
        for (int64_t key = 0; key < roundUp(count, kPanelRows); key += 2) {
            const T* even = rows[static_cast<size_t>(key)];
            const T* odd = rows[static_cast<size_t>(key + 1)];
            W* to = m_scratch.values.data() + key * kPanelRows;
            int64_t d = 0;
            for (; d + kPanelRows <= m_call.valueWidth; d += kPanelRows)
                packPair(even + d, odd + d, kPanelRows, to + d * kTileKeys);
            if (d < m_call.valueWidth)
                packPair(even + d, odd + d, m_call.valueWidth - d, to + d * kTileKeys);
        }
    }

    /// At most 16 columns of two keys' values.
    static void packPair(const T* even, const T* odd, int64_t count, W* to) {
        if constexpr (std::is_same_v<W, float>) {
            copyRow(even, to, count);
            copyRow(odd, to + kPanelRows, count);
        } else {
            uint32_t pairs[kPanelRows];
            uint16_t bits[2][kPanelRows];
            std::memcpy(bits[0], even, static_cast<size_t>(count) * sizeof(T));
            std::memcpy(bits[1], odd, static_cast<size_t>(count) * sizeof(T));
            for (int64_t i = 0; i < count; ++i)
                pairs[i] = bits[0][i] | static_cast<uint32_t>(bits[1][i]) << 16;
            std::memcpy(to, pairs, static_cast<size_t>(count) * sizeof(pairs[0]));
        }
    }

    /// Sums of `height` rows, [height][columns], with `count` panels that lie `stride` elements apart.
    static void addProducts(const W* panels, int64_t stride, int64_t count, const Operand* input,
                            int64_t height, int64_t columns, const Sums& sums, bool more) {
        const int64_t bytes = stride * static_cast<int64_t>(sizeof(W));
        for (int64_t panel = 0; panel < count;) {
            const int64_t together = height <= kPairRows<W> && panel + 2 <= count ? 2 : 1;
            tileFor<W>(height, together)(reinterpret_cast<const std::byte*>(panels + panel * stride), bytes,
                                         input, columns, columns,
                                         {sums.at(0, panel), sums.rowStride, sums.panelStride}, more);
            panel += together;
        }
    }

    void attend(int64_t first, int64_t count) {
        packKeys(rowsOf(keyRows<T>(m_call, m_span, m_task.kvHead), first, count), count);
        packValues(rowsOf(valueRows<T>(m_call, m_span, m_task.kvHead), first, count), count);
        for (int64_t tile = 0; tile < m_tiles.count; ++tile) {
            const int64_t row = m_tiles.begin(tile), height = m_tiles.height(tile);
            // Ranges move forward with the query: the union of a tile's ranges is one range.
            const int64_t begin = seenInTile(queryOf(row), first, count).begin / kPanelRows * kPanelRows;
            const int64_t end = seenInTile(queryOf(row + height - 1), first, count).end;
            if (begin < end)
                attendRows(row, height, first, count, {begin, roundUp(end, kPanelRows)});
        }
    }

    /// Rows of one tile with the keys of `range`, in whole panels.
    void attendRows(int64_t row, int64_t height, int64_t first, int64_t count, KeyRange range) {
        const int64_t keys = range.end - range.begin;
        float* scores = m_scratch.scores.data();
        addProducts(m_scratch.keys.data() + range.begin * m_width, m_width * kPanelRows, keys / kPanelRows,
                    m_scratch.query.data() + row * m_width, height, m_width, {scores, keys, kPanelRows},
                    false);
        softmaxRows(row, height, first, count, range, scores);
        if constexpr (std::is_same_v<Operand, float>) {
            addValues(row, height, range, scores);
        } else {
            Operand* probabilities = m_scratch.probabilities.data();
            roundQuickly(scores, height * keys, probabilities);
            addValues(row, height, range, probabilities);
            restQuickly(scores, height * keys, probabilities); // what rounding left of them
            addValues(row, height, range, probabilities);
        }
    }

    /// Adds the values of a range of keys, times their probabilities, to the output.
    void addValues(int64_t row, int64_t height, KeyRange range, const Operand* probabilities) {
        const int64_t keys = range.end - range.begin;
        addProducts(m_scratch.values.data() + range.begin * kPanelRows, kTileKeys * kPanelRows,
                    m_valueWidth / kPanelRows, probabilities, height, keys,
                    {m_scratch.output.data() + row * m_valueWidth, m_valueWidth, kPanelRows}, true);
    }

    /// The part of a tile's keys that a query sees, counted from the tile's first key.
    KeyRange seenInTile(int64_t query, int64_t first, int64_t count) const {
        const KeyRange seen = visibleKeys(m_call, m_span, query);
        return {std::clamp<int64_t>(seen.begin - first, 0, count),
                std::clamp<int64_t>(seen.end - first, 0, count)};
    }

    void softmaxRows(int64_t row, int64_t height, int64_t first, int64_t count, KeyRange range,
                     float* scores) {
        const int64_t keys = range.end - range.begin;
        int64_t query = queryOf(row), head = headOf(row);
        KeyRange seen = seenInTile(query, first, count);
        for (int64_t end = row + height; row < end; ++row, scores += keys) {
            if (head == (m_task.kvHead + 1) * m_groups) {
                head = m_task.kvHead * m_groups;
                seen = seenInTile(++query, first, count);
            }
            softmaxRow(row, head++, first + range.begin - (m_span.firstQuery + query),
                       {seen.begin - range.begin, seen.end - range.begin}, scores, keys);
        }
    }

    void softmaxRow(int64_t row, int64_t head, int64_t distance, const KeyRange& seen, float* scores,
                    int64_t keys) {
        if (seen.begin >= seen.end) {
            std::fill_n(scores, keys, 0.0F);
            return;
        }
        const float factor =
            softmax(m_call, head, distance, seen, scores, keys, m_scratch.states[static_cast<size_t>(row)]);
        if (factor == 1)
            return;
        float* output = m_scratch.output.data() + row * m_valueWidth;
        for (int64_t d = 0; d < m_valueWidth; d += kPanelRows)
            store(multiply(load(output + d), fill(factor)), output + d);
    }

    void write() const {
        for (int64_t row = 0; row < m_tiles.rows; ++row) {
            T* to = static_cast<T*>(m_span.output) + headOf(row) * m_call.outputStrides[0] +
                    queryOf(row) * m_call.outputStrides[1];
            const float factor = finalFactor(m_call, headOf(row), m_scratch.states[static_cast<size_t>(row)]);
            const float* from = m_scratch.output.data() + row * m_valueWidth;
            int64_t d = 0;
            if constexpr (!std::is_same_v<T, c10::Half>)
                for (; d + kPanelRows <= m_call.valueWidth; d += kPanelRows)
                    store(multiply(load(from + d), fill(factor)), to + d);
            for (; d < m_call.valueWidth; ++d)
                to[d] = static_cast<T>(from[d] * factor);
        }
    }

    const AttentionCall& m_call;
    const AttentionTask& m_task;
    const AttentionSpan& m_span;
    Scratch<T>& m_scratch;
    uint32_t m_groups;
    RowTiles<W> m_tiles;
    int64_t m_width;      // filled to whole units
    int64_t m_valueWidth; // filled to whole panels
};

} // namespace

template <typename T>
void attendTiles(const AttentionCall& call, const AttentionTask& task) {
    thread_local Scratch<T> scratch;
    TileTask<T>(call, task, scratch).run();
}

template void attendTiles<float>(const AttentionCall&, const AttentionTask&);
template void attendTiles<c10::BFloat16>(const AttentionCall&, const AttentionTask&);
template void attendTiles<c10::Half>(const AttentionCall&, const AttentionTask&);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
