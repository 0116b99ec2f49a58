#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/norm_row.h"
#include "runtime/ops/thread_pool.h"

#include <cstring>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// x * cos + rot(x) * sin for the halves of x; every product and the sum is rounded to T. `output` may be
/// `x`.
template <typename T>
void turnHalves(const T* x, const T* cos, const T* sin, T* output, int64_t rotaryWidth) {
    const int64_t half = rotaryWidth / 2;
    forEachVector<T>(half, [&](int64_t offset, int64_t count) {
        const auto low = Wide<T>::load(x + offset, count);
        const auto high = Wide<T>::load(x + half + offset, count);
        const auto negated = high.map([](const auto& part) { return part.neg(); });
        const auto lowCos = (low * Wide<T>::load(cos + offset, count)).rounded();
        const auto highCos = (high * Wide<T>::load(cos + half + offset, count)).rounded();
        const auto lowSin = (negated * Wide<T>::load(sin + offset, count)).rounded();
        const auto highSin = (low * Wide<T>::load(sin + half + offset, count)).rounded();
        (lowCos + lowSin).store(output + offset, count);
        (highCos + highSin).store(output + half + offset, count);
    });
}

template <typename T>
T roundedProduct(T a, T b) {
    return static_cast<T>(static_cast<Acc<T>>(a) * static_cast<Acc<T>>(b));
}

template <typename T>
void turnPairs(const T* x, const T* cos, const T* sin, T* output, int64_t rotaryWidth) {
    for (int64_t i = 0; i < rotaryWidth; i += 2) {
        const T even = x[i];
        const T odd = x[i + 1];
        const T evenCos = roundedProduct(even, cos[i]);
        const T oddCos = roundedProduct(odd, cos[i + 1]);
        const T evenSin = roundedProduct(static_cast<T>(-odd), sin[i]);
        const T oddSin = roundedProduct(even, sin[i + 1]);
        output[i] = static_cast<T>(static_cast<Acc<T>>(evenCos) + static_cast<Acc<T>>(evenSin));
        output[i + 1] = static_cast<T>(static_cast<Acc<T>>(oddCos) + static_cast<Acc<T>>(oddSin));
    }
}

template <typename T>
void turnHead(const RopeCall& call, const T* x, const T* cos, const T* sin, T* output) {
    if (call.style == RopeStyle::Half)
        turnHalves(x, cos, sin, output, call.rotaryWidth);
    else
        turnPairs(x, cos, sin, output, call.rotaryWidth);
    if (x != output)
        std::memcpy(output + call.rotaryWidth, x + call.rotaryWidth,
                    sizeof(T) * static_cast<size_t>(call.width - call.rotaryWidth));
}

/// All heads of one token, of query and key: cos and sin of a token are read once.
template <typename T>
void turnToken(const RopeCall& call, int64_t batch, int64_t token) {
    const T* cos = static_cast<const T*>(call.cos) + batch * call.cosStrides[0] + token * call.cosStrides[1];
    const T* sin = static_cast<const T*>(call.sin) + batch * call.sinStrides[0] + token * call.sinStrides[1];
    for (int side = 0; side < 2; ++side) {
        const Heads& heads = call.sides[side];
        const T* x =
            static_cast<const T*>(heads.data) + batch * heads.batchStride + token * heads.tokenStride;
        T* output =
            static_cast<T*>(call.outputs[side]) + (batch * heads.heads * call.tokens + token) * call.width;
        for (int64_t head = 0; head < heads.heads; ++head) {
            const T* from = x + head * heads.headStride;
            T* to = output + head * call.tokens * call.width;
            if (call.norm) {
                normalizeRow(from, sumOfSquares(from, call.width), static_cast<const T*>(call.weights[side]),
                             to, call.width, call.spec);
                from = to;
            }
            turnHead(call, from, cos, sin, to);
        }
    }
}

template <typename T>
void run(const RopeCall& call) {
    const int64_t heads = call.sides[0].heads + call.sides[1].heads;
    parallelFor(call.batch * call.tokens, rowGrain(heads * call.width), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            turnToken<T>(call, i / call.tokens, i % call.tokens);
    });
}

} // namespace

void rope(const RopeCall& call) {
    WORKBENCH_DISPATCH(call.dtype, run<T>(call))
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
