// Weights in fewer bits: the numbers that they become against ATen's arithmetic, and products with them
// against sums in double precision, on every instruction set of this machine.
#include "runtime/ops/linear.h"
#include "runtime/ops/moe.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace workbench::ops {
namespace {

using testing::expectRefused;
using testing::toDoubles;

constexpr WeightFormat kFormats[] = {WeightFormat::int8, WeightFormat::int4};

/// What a weight becomes, in double precision: scales and quotients are float32 numbers.
struct Expected {
    at::Tensor integers; ///< float32
    at::Tensor scales;   ///< float32, of the same shape

    at::Tensor weights() const { return integers.to(at::kDouble) * scales.to(at::kDouble); }
};

Expected int8Of(const at::Tensor& plain) {
    const at::Tensor w = plain.to(at::kFloat);
    const at::Tensor scales = (std::get<0>(w.abs().max(-1, true)) / 127).expand_as(w);
    const at::Tensor integers = (w / scales).round().clamp(-127, 127); // rounds half to even
    return {at::where(scales == 0, at::zeros_like(w), integers), scales};
}

/// Groups of 32 columns, the last one filled up with zeros.
Expected int4Of(const at::Tensor& plain) {
    const int64_t columns = plain.size(-1), filled = (columns + 31) / 32 * 32;
    const at::Tensor w =
        at::constant_pad_nd(plain.to(at::kFloat), {0, filled - columns}).reshape({plain.size(0), -1, 32});
    const at::Tensor extremes = w.gather(-1, w.abs().argmax(-1, true)); // the first of equal ones
    const at::Tensor scales = (extremes / -8).to(at::kBFloat16).to(at::kFloat).expand_as(w);
    const at::Tensor integers = at::where(scales == 0, at::zeros_like(w), (w / scales).round().clamp(-8, 7));
    const auto cut = [&](const at::Tensor& of) {
        return of.reshape({plain.size(0), filled}).narrow(1, 0, columns);
    };
    return {cut(integers), cut(scales)};
}

Expected expectedOf(const at::Tensor& plain, WeightFormat format) {
    return format == WeightFormat::int8 ? int8Of(plain) : int4Of(plain);
}

/// A matrix that the format has exactly: whole numbers of which each row or group has the largest, times a
/// power of two.
at::Tensor exactWeights(at::IntArrayRef shape, at::ScalarType dtype, WeightFormat format) {
    const bool int8 = format == WeightFormat::int8;
    at::Tensor integers =
        int8 ? at::randint(-127, 128, shape, at::kFloat) : at::randint(-8, 8, shape, at::kFloat);
    for (int64_t column = 7; column < shape.back(); column += 32)
        integers.select(-1, column).fill_(int8 ? -127 : -8);
    return (integers * (int8 ? 0x1p-9 : 0x1p-5)).to(dtype);
}

struct Case {
    const Kernels* kernels;
    at::ScalarType dtype;
    WeightFormat format;
};

std::string caseName(const ::testing::TestParamInfo<Case>& info) {
    return std::string(info.param.kernels->name) + (info.param.dtype == at::kFloat ? "_f32" : "_bf16") +
           (info.param.format == WeightFormat::int8 ? "_int8" : "_int4");
}

std::vector<Case> allCases() {
    std::vector<Case> cases;
    for (const Kernels* kernels : cpuKernelSets())
        for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16})
            for (const WeightFormat format : kFormats)
                cases.push_back({kernels, dtype, format});
    return cases;
}

class QuantisedTest : public ::testing::TestWithParam<Case> {
protected:
    void SetUp() override { at::manual_seed(11); }

    at::ScalarType dtype() const { return GetParam().dtype; }
    WeightFormat format() const { return GetParam().format; }
    at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(dtype()); }
    PackedWeight packed(const at::Tensor& plain) const { return PackedWeight::of(plain, format()); }
    at::Tensor run(const at::Tensor& input, const PackedWeight& weight,
                   const std::optional<at::Tensor>& bias = std::nullopt) const {
        return linearWith(*GetParam().kernels, input, weight, bias);
    }

    /// Every output within 1e-6 of the sum of its products' magnitudes, for the order of float32 sums (in 4
    /// bits sums are of q + 8, and up to q + 24, times the input before they are shifted and scaled), plus
    /// the rounding of the result: 2^-24 of it for float32, 2^-8 for bfloat16, and in either at least half of
    /// the smallest denormal number.
    void expectProduct(const at::Tensor& input, const at::Tensor& plain,
                       const std::optional<at::Tensor>& bias, const at::Tensor& output) const {
        const at::Tensor x = input.to(at::kDouble);
        const Expected exact = expectedOf(plain, format());
        const at::Tensor w = exact.weights();
        const at::Tensor summed =
            format() == WeightFormat::int4 ? w.abs() + 24 * exact.scales.to(at::kDouble).abs() : w.abs();
        const at::Tensor b = bias ? bias->to(at::kDouble) : at::zeros({plain.size(0)}, at::kDouble);
        ASSERT_EQ(output.scalar_type(), dtype());
        const std::vector<double> actual = toDoubles(output);
        const std::vector<double> expected = toDoubles(at::linear(x, w, b));
        const std::vector<double> magnitude = toDoubles(at::linear(x.abs(), summed, b.abs()));
        ASSERT_EQ(actual.size(), expected.size());
        const double rounding = std::ldexp(1, dtype() == at::kFloat ? -24 : -8);
        const double least = std::ldexp(1, dtype() == at::kFloat ? -149 : -133);
        for (size_t i = 0; i < actual.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i],
                        1e-6 * magnitude[i] + rounding * std::abs(expected[i]) + least)
                << "element " << i;
    }
};

TEST_P(QuantisedTest, ProductsEqualSumsInDoublePrecision) {
    // Rows around the tiles of all sets (3, 6, 12), past two of them and past a block of the cache (192);
    // columns of one, around a group of 32 and past a range of the cache; outputs around one panel and past
    // four.
    for (const int64_t rows : {1, 2, 3, 6, 7, 13, 25, 193})
        for (const int64_t columns : {1, 31, 33, 64, 577, 1100})
            for (const int64_t outputs : {1, 17, 80}) {
                if (rows > 25 && columns * outputs > 20000)
                    continue;
                SCOPED_TRACE(::testing::Message() << rows << " x " << columns << " -> " << outputs);
                const at::Tensor x = random({rows, columns});
                const at::Tensor weight = random({outputs, columns});
                const auto bias = outputs == 17 ? std::nullopt : std::optional(random({outputs}));
                expectProduct(x, weight, bias, run(x, packed(weight), bias));
            }
}

TEST_P(QuantisedTest, GivesARowTheSameBitsWhateverRowsAreBesideIt) {
    for (const int64_t columns : {300, 1201}) {
        const at::Tensor x = random({250, columns});
        const PackedWeight weight = packed(random({90, columns}));
        const at::Tensor all = run(x, weight);
        for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 11, 13, 40})
            EXPECT_TRUE(at::equal(run(x.narrow(0, 9, rows), weight), all.narrow(0, 9, rows))) << rows;
    }
}

TEST_P(QuantisedTest, JoinsWeightsByRowsAndHandlesNothing) {
    const at::Tensor q = random({40, 70}), k = random({16, 70}), v = random({5, 70}), bias = random({61});
    const PackedWeight joined = PackedWeight::joined({packed(q), packed(k), packed(v)});
    for (const int64_t rows : {1, 30}) {
        const at::Tensor x = random({rows, 70});
        expectProduct(x, at::cat({q, k, v}), bias, run(x, joined, bias));
    }
    EXPECT_EQ(run(random({0, 8}), packed(random({5, 8}))).sizes(), (at::IntArrayRef{0, 5}));
    EXPECT_EQ(run(random({3, 8}), packed(random({0, 8}))).sizes(), (at::IntArrayRef{3, 0}));
    const at::Tensor some = random({5});
    EXPECT_TRUE(at::equal(run(random({2, 0}), packed(random({5, 0})), some), some.expand({2, 5})));
    expectRefused([&] { PackedWeight::joined({packed(q), PackedWeight::of(q)}); }, "cannot be joined");
}

/// Rows of zeros, of one value that is not, and of numbers so small that scales are denormal or zero.
TEST_P(QuantisedTest, HandlesRowsOfZerosAndOfDenormalNumbers) {
    at::Tensor weight = random({20, 65});
    weight.select(0, 3).zero_();
    weight.select(0, 7).zero_().select(0, 64).fill_(-2.5);
    weight.select(0, 9).mul_(0x1p-133f);
    weight.select(0, 10).mul_(0x1p-147f);
    for (const int64_t rows : {1, 30}) {
        const at::Tensor x = random({rows, 65});
        const at::Tensor output = run(x, packed(weight));
        expectProduct(x, weight, std::nullopt, output);
        EXPECT_TRUE(output.isfinite().all().item<bool>());
        EXPECT_TRUE((output.select(1, 3) == 0).all().item<bool>());
    }
}

/// The experts of a mixture, with weights that lose nothing.
TEST_P(QuantisedTest, ExpertsEqualThoseOfTheSameWeightsAsStored) {
    for (const int64_t tokens : {1, 5, 130}) {
        const at::Tensor hidden = random({tokens, 64});
        const at::Tensor indices = at::arange(2 * tokens, at::kLong).mul(5).remainder(7).reshape({tokens, 2});
        const MoeArgs args{hidden, random({tokens, 2}).abs(), indices, Activation::Silu};
        const at::Tensor gateUp = exactWeights({7, 64, 64}, dtype(), format());
        const at::Tensor down = exactWeights({7, 48, 32}, dtype(), format());
        const at::Tensor output = moeExpertsWith(*GetParam().kernels, args, packed(gateUp), packed(down));
        const at::Tensor stored =
            moeExpertsWith(*GetParam().kernels, args, PackedWeight::of(gateUp), PackedWeight::of(down));
        const double largest = stored.abs().max().item<double>();
        const double allowed = (dtype() == at::kFloat ? 1e-6 : 0x1p-7) * largest;
        EXPECT_LE((output - stored).abs().max().item<double>(), allowed) << tokens;
        const at::Tensor picks = at::tensor({4, 0, -1}, at::kLong);
        EXPECT_TRUE(at::equal(pickExperts(packed(gateUp), picks), gateUp.index({picks})));
    }
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedTest, ::testing::ValuesIn(allCases()), caseName);

class QuantisedWeight : public ::testing::TestWithParam<at::ScalarType> {
protected:
    void SetUp() override { at::manual_seed(5); }
};

TEST_P(QuantisedWeight, HasTheNumbersOfAtensOwnArithmetic) {
    for (const WeightFormat format : kFormats)
        for (const int64_t rows : {1, 15, 16, 35})
            for (const int64_t columns : {1, 2, 33, 100, 576}) {
                const at::Tensor plain = at::randn({rows, columns}).to(GetParam());
                const at::Tensor expected = expectedOf(plain, format).weights().to(at::kFloat).to(GetParam());
                const PackedWeight weight = PackedWeight::of(plain, format);
                EXPECT_TRUE(at::equal(weight.unpacked(), expected)) << rows << " x " << columns;
                const at::Tensor indices = at::tensor({rows - 1, int64_t{0}}, at::kLong);
                EXPECT_TRUE(at::equal(embedding(weight, indices), expected.index({indices})));
                at::Tensor block = at::empty_like(plain);
                weight.copyBlock(0, block.mutable_data_ptr());
                EXPECT_TRUE(at::equal(block, expected));
            }
}

TEST_P(QuantisedWeight, LosesAtMostHalfAStep) {
    const at::Tensor plain = at::randn({64, 300}).to(GetParam()).to(at::kFloat);
    const at::Tensor step = std::get<0>(plain.abs().max(1, true)) / 127;
    const at::Tensor error = (PackedWeight::of(plain, WeightFormat::int8).unpacked() - plain).abs();
    EXPECT_TRUE((error <= step * 0.5001).all().item<bool>());
    EXPECT_TRUE((std::get<0>(error.max(1, true)) > step * 0.4).any().item<bool>());
}

TEST_P(QuantisedWeight, LosesAtMostAStepOf4BitsAndAQuarterOnAverage) {
    const at::Tensor plain = at::randn({64, 320}).to(GetParam()).to(at::kFloat);
    const at::Tensor step = int4Of(plain).scales.abs();
    const at::Tensor error = (PackedWeight::of(plain, WeightFormat::int4).unpacked() - plain).abs() / step;
    EXPECT_LE(error.max().item<double>(), 1.01);          // opposite to the largest there are 7 steps of 8
    EXPECT_NEAR(error.mean().item<double>(), 0.25, 0.02); // evenly between 0 and half a step
}

TEST_P(QuantisedWeight, RefusesWhatIsNotFinite) {
    for (const double value : {std::numeric_limits<double>::infinity(), std::nan(""), 0x1p121}) {
        at::Tensor plain = at::randn({40, 33}).to(GetParam());
        plain.select(0, 37).select(0, 32).fill_(value);
        for (const WeightFormat format : kFormats)
            EXPECT_FALSE(PackedWeight::tryOf(plain, format)) << value;
        expectRefused([&] { PackedWeight::of(plain, WeightFormat::int8); }, "cannot be quantised");
        EXPECT_TRUE(PackedWeight::tryOf(plain, WeightFormat::stored)) << value;
    }
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedWeight, ::testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& info) { return info.param == at::kFloat ? "f32" : "bf16"; });

TEST(Int8Weight, RoundsHalvesToEvenAndKeepsZero) {
    const at::Tensor plain = at::tensor({127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.0f}).reshape({1, 7});
    EXPECT_EQ(toDoubles(PackedWeight::of(plain, WeightFormat::int8).unpacked()),
              (std::vector<double>{127, 0, 2, 2, 0, -2, 0}));
}

TEST(Int4Weight, GivesTheLargestTheEighthStepAndRoundsHalvesToEven) {
    const at::Tensor plain =
        at::tensor({4.0f, -4.0f, 0.25f, 0.75f, -0.25f, -0.75f, 0.0f, 3.3f}).reshape({1, 8});
    EXPECT_EQ(toDoubles(PackedWeight::of(plain, WeightFormat::int4).unpacked()),
              (std::vector<double>{4, -3.5, 0, 1, 0, -1, 0, 3.5}));
}

TEST(Int4Weight, TakesFourAndAHalfBitsForEachNumber) {
    EXPECT_EQ(weightBytes({at::kBFloat16, WeightFormat::int4}, 10, 64), 10 * (32 + 4));
    EXPECT_EQ(packedBytes({at::kBFloat16, WeightFormat::int4}, 17, 33), 2 * 9 * 64);
}

TEST(Int8Weight, TakesAByteForEachNumberAndFourForEachRow) {
    EXPECT_EQ(weightBytes({at::kBFloat16, WeightFormat::int8}, 10, 100), 1040);
    EXPECT_EQ(packedBytes({at::kBFloat16, WeightFormat::int8}, 17, 99), 2 * (64 + 16 * 100));
}

} // namespace
} // namespace workbench::ops
