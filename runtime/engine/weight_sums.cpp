#include "runtime/engine/weight_sums.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <numbers>

namespace workbench {
namespace {

// Vectors of GCC and Clang, which become those of the function that they are used in.
struct In4 {
    static constexpr std::size_t kLanes = 4;
    typedef float Floats __attribute__((vector_size(16)));
    typedef std::int32_t Ints __attribute__((vector_size(16)));
};
struct In8 {
    static constexpr std::size_t kLanes = 8;
    typedef float Floats __attribute__((vector_size(32)));
    typedef std::int32_t Ints __attribute__((vector_size(32)));
};
struct In16 {
    static constexpr std::size_t kLanes = 16;
    typedef float Floats __attribute__((vector_size(64)));
    typedef std::int32_t Ints __attribute__((vector_size(64)));
};

template <typename Vectors>
[[gnu::always_inline]] inline float sumOf(const float* logits, float largest, float scale, float least) {
    using Floats = typename Vectors::Floats;
    using Ints = typename Vectors::Ints;
    Floats sum{};
    for (std::size_t i = 0; i < kBlockLogits; i += Vectors::kLanes) {
        Floats power;
        std::memcpy(&power, logits + i, sizeof power);
        power = (power - largest) * scale;
        const Ints counts = power >= least;
        power = counts ? power : Floats{} + least;
        // 2^power = 2^whole * e^(ln 2 * (power - whole)), with |power - whole| <= 1/2: the Taylor series up
        // to the 7th term leaves out less than (ln 2 / 2)^8 / 8! = 5e-9.
        const Ints whole = __builtin_convertvector(power - 0.5F, Ints);
        const Floats x = (power - __builtin_convertvector(whole, Floats)) * std::numbers::ln2_v<float>;
        Floats series = x * (1.F / 5040) + 1.F / 720;
        series = series * x + 1.F / 120;
        series = series * x + 1.F / 24;
        series = series * x + 1.F / 6;
        series = series * x + 0.5F;
        series = series * x + 1.F;
        series = series * x + 1.F;
        const Ints bits = ((whole + 127) << 23) & counts; // an IEEE 754 number without a fraction: 2^whole
        Floats factor;
        std::memcpy(&factor, &bits, sizeof factor);
        sum += series * factor;
    }
    float total = 0;
    for (std::size_t lane = 0; lane < Vectors::kLanes; ++lane)
        total += sum[lane];
    return total;
}

float sumIn4(const float* logits, float largest, float scale, float least) {
    return sumOf<In4>(logits, largest, scale, least);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float sumIn8(const float* logits, float largest, float scale, float least) {
    return sumOf<In8>(logits, largest, scale, least);
}

[[gnu::target("avx512f")]] float sumIn16(const float* logits, float largest, float scale, float least) {
    return sumOf<In16>(logits, largest, scale, least);
}
#endif

struct Versions {
    std::array<SumWeights, 3> all{sumIn4};
    std::size_t count = 1;
};

Versions supported() {
    Versions versions;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        versions.all[versions.count++] = sumIn8;
        if (__builtin_cpu_supports("avx512f"))
            versions.all[versions.count++] = sumIn16;
    }
#endif
    return versions;
}

} // namespace

std::span<const SumWeights> sumWeights() {
    static const Versions versions = supported();
    return {versions.all.data(), versions.count};
}

} // namespace workbench
