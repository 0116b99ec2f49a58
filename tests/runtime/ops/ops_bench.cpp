// Operators against the eager composition that they replace: fastest of interleaved runs (others may use the
// machine), bandwidth of what has to be read and written. Not a test: figures depend on the machine and its
// load.   usage: runtime_ops_bench [runs]
#include "runtime/ops/activation.h"
#include "runtime/ops/attention.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "tests/runtime/ops/bench_clock.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace workbench::ops {
namespace {

int runs = 31;

/// `bytes`: what one call must move.
void compare(const char* name, double bytes, const std::function<void()>& ours,
             const std::function<void()>& eager) {
    ours();
    eager();
    std::vector<double> fused;
    std::vector<double> composed;
    for (int i = 0; i < runs; ++i) {
        fused.push_back(seconds(ours));
        composed.push_back(seconds(eager));
    }
    const double a = *std::min_element(fused.begin(), fused.end());
    const double b = *std::min_element(composed.begin(), composed.end());
    std::printf("%-44s %9.1f us %7.2f GB/s   eager %9.1f us %7.2f GB/s   %6.2fx\n", name, a * 1e6,
                bytes / a * 1e-9, b * 1e6, bytes / b * 1e-9, b / a);
}

at::Tensor random(at::IntArrayRef shape) {
    return at::randn(shape).to(at::kBFloat16);
}

at::Tensor eagerNorm(const at::Tensor& x, const at::Tensor& weight) {
    const at::Tensor wide = x.to(at::kFloat);
    return weight * (wide * at::rsqrt(wide.pow(2).mean(-1, true) + 1e-5)).to(x.scalar_type());
}

at::Tensor eagerRotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
    const int64_t half = x.size(-1) / 2;
    const at::Tensor turned = at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
    return x * cos + turned * sin;
}

void benchRowwise(int64_t tokens, int64_t hidden, int64_t intermediate) {
    const at::Tensor x = random({1, tokens, hidden});
    const at::Tensor residual = random({1, tokens, hidden});
    const at::Tensor weight = random({hidden});
    const double bytes = 2.0 * static_cast<double>(tokens * hidden);
    const NormSpec spec{1e-5, 0, NormCast::BeforeWeight};
    char name[96];
    std::snprintf(name, sizeof name, "rms_norm bf16 [%ld, %ld]", tokens, hidden);
    compare(
        name, 2 * bytes, [&] { rmsNorm(x, weight, spec); }, [&] { eagerNorm(x, weight); });
    std::snprintf(name, sizeof name, "add_rms_norm bf16 [%ld, %ld]", tokens, hidden);
    compare(
        name, 4 * bytes, [&] { addRmsNorm(x, residual, weight, spec); },
        [&] { eagerNorm(x + residual, weight); });
    const at::Tensor gateUp = random({1, tokens, 2 * intermediate});
    std::snprintf(name, sizeof name, "act_and_mul silu bf16 [%ld, %ld]", tokens, 2 * intermediate);
    compare(
        name, 6.0 * static_cast<double>(tokens * intermediate), [&] { actAndMul(gateUp, Activation::Silu); },
        [&] {
            at::silu(gateUp.narrow(-1, 0, intermediate)) * gateUp.narrow(-1, intermediate, intermediate);
        });
}

void benchRope(int64_t tokens, int64_t heads, int64_t kvHeads, int64_t width) {
    const at::Tensor query = random({1, tokens, heads, width});
    const at::Tensor key = random({1, tokens, kvHeads, width});
    const at::Tensor cos = random({1, tokens, width});
    const at::Tensor sin = random({1, tokens, width});
    const at::Tensor weight = random({width});
    const double bytes = 4.0 * static_cast<double>(tokens * (heads + kvHeads) * width);
    const auto rotate = [&](const at::Tensor& x) {
        return eagerRotated(x, cos.unsqueeze(1), sin.unsqueeze(1));
    };
    char name[96];
    std::snprintf(name, sizeof name, "rope bf16 T=%ld heads %ld+%ld x %ld", tokens, heads, kvHeads, width);
    compare(
        name, bytes, [&] { rope(query.transpose(1, 2), key.transpose(1, 2), cos, sin, RopeStyle::Half); },
        [&] {
            rotate(query.transpose(1, 2));
            rotate(key.transpose(1, 2));
        });
    const QkNorm norm{weight, weight, {1e-5, 0, NormCast::BeforeWeight}};
    std::snprintf(name, sizeof name, "qk_norm_rope bf16 T=%ld heads %ld+%ld x %ld", tokens, heads, kvHeads,
                  width);
    compare(
        name, bytes, [&] { qkNormRope(query, key, norm, cos, sin, RopeStyle::Half); },
        [&] {
            rotate(eagerNorm(query, weight).transpose(1, 2));
            rotate(eagerNorm(key, weight).transpose(1, 2));
        });
}

AttentionArgs attentionArgs(int64_t tokens, int64_t first, int64_t heads, int64_t kvHeads, int64_t width) {
    AttentionArgs args;
    args.query = random({1, tokens, heads, width}).transpose(1, 2);
    args.key = random({1, tokens, kvHeads, width}).transpose(1, 2);
    args.value = random({1, tokens, kvHeads, width}).transpose(1, 2);
    args.positions = at::arange(first, first + tokens, at::kLong).unsqueeze(0);
    args.scale = 0.125;
    return args;
}

at::Tensor eagerAttention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          double scale, bool causal) {
    const int64_t groups = query.size(1) / key.size(1);
    const at::Tensor keys = key.repeat_interleave(groups, 1);
    at::Tensor scores = at::matmul(query, keys.transpose(2, 3)) * scale;
    if (causal)
        scores =
            scores + at::full({query.size(2), query.size(2)}, -INFINITY).triu(1).to(scores.scalar_type());
    return at::matmul(at::softmax(scores, -1, at::kFloat).to(query.scalar_type()),
                      value.repeat_interleave(groups, 1));
}

void benchPrefill(int64_t tokens, int64_t heads, int64_t kvHeads, int64_t width) {
    const AttentionArgs args = attentionArgs(tokens, 0, heads, kvHeads, width);
    char name[96];
    std::snprintf(name, sizeof name, "attention bf16 prefill T=%ld heads %ld/%ld x %ld", tokens, heads,
                  kvHeads, width);
    compare(
        name, 4.0 * static_cast<double>(tokens * (heads + kvHeads) * width), [&] { attention(args); },
        [&] { eagerAttention(args.query, args.key, args.value, args.scale, true); });
    std::vector<double> times;
    for (int i = 0; i < runs; ++i)
        times.push_back(seconds([&] { attention(args); }));
    const double flops =
        2.0 * static_cast<double>(tokens * tokens * heads * width); // causal: half of 4 T^2 H D
    std::printf("%44s %9.1f GFLOP/s\n", "", flops / *std::min_element(times.begin(), times.end()) * 1e-9);
}

/// One token after `context` ones, `layers` caches in turn so that they come from memory as in a model.
void benchDecode(int64_t context, int64_t layers, int64_t heads, int64_t kvHeads, int64_t width) {
    const AttentionArgs args = attentionArgs(1, context, heads, kvHeads, width);
    std::vector<KvCacheView> caches;
    for (int64_t i = 0; i < layers; ++i) {
        caches.push_back(makeKvCache(context + 1, kvHeads, width, width, at::kBFloat16));
        caches.back().key.copy_(random({context + 1, kvHeads, width}));
        caches.back().value.copy_(random({context + 1, kvHeads, width}));
        caches.back().length = context;
    }
    char name[96];
    std::snprintf(name, sizeof name, "attention bf16 decode after %ld, heads %ld/%ld x %ld", context, heads,
                  kvHeads, width);
    compare(
        name, 4.0 * static_cast<double>(layers * context * kvHeads * width),
        [&] {
            for (KvCacheView& cache : caches)
                attentionWithCache(args, cache);
        },
        [&] {
            for (const KvCacheView& cache : caches)
                eagerAttention(args.query, cache.key.transpose(0, 1).unsqueeze(0),
                               cache.value.transpose(0, 1).unsqueeze(0), args.scale, false);
        });
}

} // namespace
} // namespace workbench::ops

int main(int argc, char** argv) {
    using namespace workbench::ops;
    if (argc > 1)
        runs = std::max(1, std::atoi(argv[1]));
    std::printf("%d threads\n", at::get_num_threads());
    for (const int64_t tokens : {1, 16, 512})
        benchRowwise(tokens, 576, 1536);
    benchRowwise(4096, 4096, 4096);
    for (const int64_t tokens : {1, 512})
        benchRope(tokens, 16, 8, 128);
    benchPrefill(512, 9, 3, 64);
    benchPrefill(512, 16, 8, 128);
    benchPrefill(2048, 9, 3, 64);
    benchDecode(64, 30, 9, 3, 64);
    benchDecode(512, 30, 9, 3, 64);
    benchDecode(4096, 30, 9, 3, 64);
    benchDecode(1024, 28, 16, 8, 128);
    return 0;
}
