// One vector register's worth of elements of T, widened to the type that sums are kept in. Included by kernel
// sources only: they are compiled once per instruction set, in a namespace of its own so that no two sets
// share a symbol.
#pragma once

#include "runtime/ops/dtype_dispatch.h"

#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#ifndef WORKBENCH_ISA
#error "kernel sources are compiled with WORKBENCH_ISA set to the name of an instruction set"
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

template <typename T>
using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
struct Wide {
    using Scalar = Acc<T>;
    using Vec = at::vec::Vectorized<Scalar>;
    static constexpr int64_t kWidth = at::vec::Vectorized<T>::size();
    static constexpr int kParts = kWidth / Vec::size();
    static constexpr bool kNarrow = kParts == 2;

    std::array<Vec, kParts> parts;

    static Wide fill(Scalar value) {
        Wide wide;
        wide.parts.fill(Vec(value));
        return wide;
    }
    static Wide widen(const at::vec::Vectorized<T>& raw) {
        Wide wide;
        if constexpr (kNarrow) {
            std::tie(wide.parts[0], wide.parts[1]) = at::vec::convert_to_float<T>(raw);
        } else {
            wide.parts[0] = raw;
        }
        return wide;
    }
    /// Elements past `count` read as zero.
    static Wide load(const T* from, int64_t count = kWidth) {
        return widen(count == kWidth ? at::vec::Vectorized<T>::loadu(from)
                                     : at::vec::Vectorized<T>::loadu(from, count));
    }
    /// Rounds to nearest even. The instruction for bfloat16 takes what is below 2^-126 as zero.
    at::vec::Vectorized<T> narrow() const {
#if defined(__AVX512BF16__)
        if constexpr (std::is_same_v<T, c10::BFloat16>)
            return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(parts[1], parts[0]));
#endif
        if constexpr (kNarrow) {
            return at::vec::convert_from_float<T>(parts[0], parts[1]);
        } else {
            return parts[0];
        }
    }
    void store(T* to, int64_t count = kWidth) const {
        narrow().store(to, static_cast<int>(count));
    }

    /// The value after a round trip through T: what eager PyTorch has between two operators (see narrow()).
    Wide rounded() const {
        if constexpr (kNarrow) {
            return widen(narrow());
        } else {
            return *this;
        }
    }

    template <typename F>
    Wide map(F&& function) const {
        Wide result;
        for (int i = 0; i < kParts; ++i)
            result.parts[i] = function(parts[i]);
        return result;
    }
    Scalar sum() const {
        Vec total = parts[0];
        if constexpr (kNarrow)
            total = total + parts[1];
        return at::vec::vec_reduce_all<Scalar>([](const Vec& a, const Vec& b) { return a + b; }, total);
    }
};

template <typename T>
Wide<T> operator+(const Wide<T>& a, const Wide<T>& b) {
    Wide<T> result;
    for (int i = 0; i < Wide<T>::kParts; ++i)
        result.parts[i] = a.parts[i] + b.parts[i];
    return result;
}

template <typename T>
Wide<T> operator*(const Wide<T>& a, const Wide<T>& b) {
    Wide<T> result;
    for (int i = 0; i < Wide<T>::kParts; ++i)
        result.parts[i] = a.parts[i] * b.parts[i];
    return result;
}

/// a * b + c
template <typename T>
Wide<T> fmadd(const Wide<T>& a, const Wide<T>& b, const Wide<T>& c) {
    Wide<T> result;
    for (int i = 0; i < Wide<T>::kParts; ++i)
        result.parts[i] = at::vec::fmadd(a.parts[i], b.parts[i], c.parts[i]);
    return result;
}

/// Calls function(offset, count) for every register's worth of [0, length); only the last count may be short.
template <typename T, typename F>
void forEachVector(int64_t length, F&& function) {
    int64_t offset = 0;
    for (; offset + Wide<T>::kWidth <= length; offset += Wide<T>::kWidth)
        function(offset, Wide<T>::kWidth);
    if (offset < length)
        function(offset, length - offset);
}

/// Rows that one thread should at least have, so that starting it pays: about 16 Ki elements.
inline int64_t rowGrain(int64_t elementsPerRow) {
    return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, elementsPerRow));
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
