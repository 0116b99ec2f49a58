// Products with packed weights against at::linear and against the machine: interleaved runs, medians. Few
// rows are given in GB/s of weights read beside the rate at which the same threads read memory, many rows in
// GFLOP/s beside the float32 peak of one core times the threads. Weights of one shape are many copies taken
// in turn, so that they come from memory. Not a test: figures depend on the machine and its load.
//   usage: runtime_linear_bench [rounds] [stored | int8 | int4]
// With a format: products with weights in it against those with weights as stored.
#include "runtime/ops/linear.h"
#include "runtime/ops/thread_pool.h"
#include "tests/runtime/ops/bench_clock.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

namespace workbench::ops {
namespace {

int rounds = 9;
WeightFormat format = WeightFormat::stored;

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Seconds to sum up 256 MiB once, over all threads.
double readSeconds(const at::Tensor& memory) {
    const auto* data = memory.const_data_ptr<float>();
    return seconds([&] {
        parallelFor(memory.numel(), 1 << 18, [&](int64_t begin, int64_t end) {
            float sums[64] = {};
            for (int64_t i = begin; i + 64 <= end; i += 64)
                for (int64_t k = 0; k < 64; ++k)
                    sums[k] += data[i + k];
            volatile float sink = std::accumulate(sums, sums + 64, 0.0f);
            (void)sink;
        });
    });
}

struct Shape {
    int64_t rows, columns, outputs;
};

void compare(const Shape& shape, at::ScalarType dtype, const at::Tensor& memory) {
    const double plainBytes =
        static_cast<double>(shape.columns * shape.outputs) * static_cast<double>(c10::elementSize(dtype));
    const auto bytes = static_cast<double>(weightBytes({dtype, format}, shape.outputs, shape.columns));
    const char* other = format == WeightFormat::stored ? "at::linear" : "as stored";
    const bool few = shape.rows <= 16;
    const auto copies = few ? static_cast<size_t>(std::max(1.0, 128e6 / bytes)) : size_t{2};
    std::vector<at::Tensor> plain;
    std::vector<PackedWeight> packed, stored;
    for (size_t i = 0; i < copies; ++i) {
        plain.push_back(at::randn({shape.outputs, shape.columns}).to(dtype));
        packed.push_back(PackedWeight::of(plain.back(), format));
        if (format != WeightFormat::stored)
            stored.push_back(PackedWeight::of(plain.back()));
    }
    const at::Tensor x = at::randn({shape.rows, shape.columns}).to(dtype);
    std::vector<double> ours, eager, reads, ratios;
    for (int round = -1; round < rounds; ++round) {
        const double a = seconds([&] {
            for (const PackedWeight& weight : packed)
                linear(x, weight, std::nullopt);
        });
        const double b = seconds([&] {
            if (format == WeightFormat::stored)
                for (const at::Tensor& weight : plain)
                    at::linear(x, weight);
            for (const PackedWeight& weight : stored)
                linear(x, weight, std::nullopt);
        });
        const double read = few ? readSeconds(memory) : 1;
        if (round < 0)
            continue;
        ours.push_back(a / static_cast<double>(copies));
        eager.push_back(b / static_cast<double>(copies));
        ratios.push_back(b / a);
        reads.push_back(static_cast<double>(memory.nbytes()) / read * 1e-9);
    }
    const double flops = 2.0 * static_cast<double>(shape.rows * shape.columns * shape.outputs);
    std::printf("%-5s %4ld x %5ld -> %6ld  %9.1f us ", dtype == at::kFloat ? "f32" : "bf16", shape.rows,
                shape.columns, shape.outputs, median(ours) * 1e6);
    if (few)
        std::printf("%6.1f GB/s (memory %5.1f)   %s %6.1f GB/s", bytes / median(ours) * 1e-9, median(reads),
                    other, plainBytes / median(eager) * 1e-9);
    else
        std::printf("%6.1f GFLOP/s           %s %6.1f GFLOP/s", flops / median(ours) * 1e-9, other,
                    flops / median(eager) * 1e-9);
    std::printf("   ratio %5.2f (%.2f - %.2f)\n", median(ratios),
                *std::min_element(ratios.begin(), ratios.end()),
                *std::max_element(ratios.begin(), ratios.end()));
    std::fflush(stdout);
}

} // namespace
} // namespace workbench::ops

int main(int count, char** arguments) {
    using namespace workbench::ops;
    if (count > 1)
        rounds = std::max(1, std::atoi(arguments[1]));
    if (count > 2) {
        const auto known = weightFormatFromName(arguments[2]);
        if (!known || count > 3) {
            std::fprintf(stderr, "usage: runtime_linear_bench [rounds] [stored | int8 | int4]\n");
            return 2;
        }
        format = *known;
    }
    std::printf("%s, %d threads, %d rounds\n", cpuKernels().name, at::get_num_threads(), rounds);
    const at::Tensor memory = at::ones({64 << 20});
    const c10::InferenceMode inference;
    for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat})
        for (const Shape& shape :
             {Shape{1, 576, 576}, Shape{1, 576, 3072}, Shape{1, 1536, 576}, Shape{1, 576, 49152},
              Shape{1, 1024, 6144}, Shape{4, 576, 3072}, Shape{8, 576, 3072}, Shape{16, 576, 3072},
              Shape{512, 576, 960}, Shape{512, 576, 3072}, Shape{512, 1536, 576}, Shape{512, 3072, 1024}})
            compare(shape, dtype, memory);
}
