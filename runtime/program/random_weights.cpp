#include "runtime/program/random_weights.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <cmath>

namespace workbench {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): a good 64-bit hash of a counter.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::uint64_t hash(std::uint64_t seed, std::string_view name) {
    std::uint64_t state = mix(seed);
    for (const char c : name)
        state = mix(state ^ static_cast<unsigned char>(c));
    return state;
}

/// The sum of four uniform numbers, scaled to mean 0 and variance 1: near enough to a normal distribution for
/// weights, and exact in the same bits everywhere, which a logarithm would not be.
float nearlyNormal(std::uint64_t bits) {
    constexpr float kScale = 1.7320508f / 65536.0f; // the sum's variance is 4/12 in units of 65536^2
    const auto lane = [bits](int i) { return static_cast<float>((bits >> (16 * i)) & 0xffff); };
    return (lane(0) + lane(1) + lane(2) + lane(3) - 2.0f * 65535.0f) * kScale;
}

struct Distribution {
    float mean;
    float deviation;
};

Distribution distributionOf(std::string_view name, at::IntArrayRef shape) {
    if (shape.size() >= 2)
        return {0.0f, 1.0f / std::sqrt(static_cast<float>(shape.back()))};
    if (name.ends_with("weight"))
        return {1.0f, 0.1f};
    return {0.0f, 0.05f};
}

} // namespace

at::Tensor randomWeight(std::uint64_t seed, std::string_view name, at::IntArrayRef shape) {
    at::Tensor weight = at::empty(shape, at::kFloat);
    const Distribution distribution = distributionOf(name, shape);
    const std::uint64_t key = hash(seed, name);
    auto* data = weight.mutable_data_ptr<float>();
    at::parallel_for(0, weight.numel(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            data[i] = distribution.mean +
                      distribution.deviation * nearlyNormal(mix(key + static_cast<std::uint64_t>(i)));
    });
    return weight;
}

} // namespace workbench
