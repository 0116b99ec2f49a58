// Products with packed weights against sums in double precision, on every instruction set of this machine.
#include "runtime/ops/linear.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace workbench::ops {
namespace {

using testing::expectRefused;
using testing::toDoubles;

struct Case {
    const Kernels* kernels;
    at::ScalarType dtype;
};

std::string caseName(const ::testing::TestParamInfo<Case>& info) {
    return std::string(info.param.kernels->name) + (info.param.dtype == at::kFloat ? "_f32" : "_bf16");
}

std::vector<Case> allCases() {
    std::vector<Case> cases;
    for (const Kernels* kernels : cpuKernelSets())
        for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16})
            cases.push_back({kernels, dtype});
    return cases;
}

class LinearTest : public ::testing::TestWithParam<Case> {
protected:
    void SetUp() override { at::manual_seed(11); }

    at::ScalarType dtype() const { return GetParam().dtype; }
    at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(dtype()); }
    at::Tensor run(const at::Tensor& input, const PackedWeight& weight,
                   const std::optional<at::Tensor>& bias = std::nullopt) const {
        return linearWith(*GetParam().kernels, input, weight, bias);
    }

    /// Every output within 1e-6 of the sum of its products' magnitudes, for the order of float32 sums, plus
    /// the rounding of the result: 2^-24 of it for float32, 2^-8 for bfloat16 (8 bits of mantissa). That
    /// order moves few bfloat16 results to the next one: at most 3 % and two more.
    void expectProduct(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, const at::Tensor& output) const {
        const at::Tensor x = input.to(at::kDouble);
        const at::Tensor w = weight.to(at::kDouble);
        const auto b = bias.has_value() ? std::optional(bias->to(at::kDouble)) : std::nullopt;
        const at::Tensor exact = at::linear(x, w, b);
        const at::Tensor sizes =
            at::linear(x.abs(), w.abs(), b.has_value() ? std::optional(b->abs()) : std::nullopt);
        ASSERT_EQ(output.sizes(), exact.sizes());
        ASSERT_EQ(output.scalar_type(), dtype());
        const double rounding = std::ldexp(1, dtype() == at::kFloat ? -24 : -8);
        const std::vector<double> actual = toDoubles(output);
        const std::vector<double> expected = toDoubles(exact);
        const std::vector<double> magnitude = toDoubles(sizes);
        const std::vector<double> nearest = toDoubles(exact.to(at::kFloat).to(dtype()));
        size_t moved = 0;
        for (size_t i = 0; i < actual.size(); ++i) {
            const double allowed = 1e-6 * magnitude[i] + rounding * std::abs(expected[i]);
            ASSERT_NEAR(actual[i], expected[i], allowed) << "element " << i;
            moved += actual[i] != nearest[i] ? 1 : 0;
        }
        if (dtype() == at::kBFloat16) {
            EXPECT_LE(moved, actual.size() * 3 / 100 + 2);
        }
    }
};

TEST_P(LinearTest, EqualsSumsInDoublePrecision) {
    // Rows around the tiles of all sets (4, 6, 12) and past a block of the cache (192); columns odd, even, of
    // one and past a range of the cache (512); outputs around a panel of 16.
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 25, 193, 400})
        for (const int64_t columns : {1, 2, 3, 64, 577, 1100})
            for (const int64_t outputs : {1, 15, 16, 17, 100}) {
                if (rows > 25 && columns * outputs > 40000)
                    continue;
                SCOPED_TRACE(::testing::Message() << rows << " x " << columns << " -> " << outputs);
                const at::Tensor x = random({rows, columns});
                const at::Tensor weight = random({outputs, columns});
                const at::Tensor bias = random({outputs});
                const PackedWeight packed = PackedWeight::of(weight);
                expectProduct(x, weight, std::nullopt, run(x, packed));
                expectProduct(x, weight, bias, run(x, packed, bias));
            }
}

TEST_P(LinearTest, EqualsSumsInDoublePrecisionForTheShapesOfRealModels) {
    struct Shape {
        int64_t rows, columns, outputs;
    };
    for (const Shape& shape : {Shape{1, 576, 49152}, Shape{1, 4096, 4096}, Shape{512, 576, 960},
                               Shape{37, 1536, 576}, Shape{8, 576, 3072}}) {
        const at::Tensor x = random({shape.rows, shape.columns});
        const at::Tensor weight = random({shape.outputs, shape.columns});
        expectProduct(x, weight, std::nullopt, run(x, PackedWeight::of(weight)));
    }
}

TEST_P(LinearTest, GivesARowTheSameBitsWhateverRowsAreBesideIt) {
    for (const int64_t columns : {300, 1201}) {
        const at::Tensor x = random({250, columns});
        const PackedWeight weight = PackedWeight::of(random({50, columns}));
        const at::Tensor all = run(x, weight);
        for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 11, 40})
            EXPECT_TRUE(at::equal(run(x.narrow(0, 9, rows), weight), all.narrow(0, 9, rows))) << rows;
    }
}

TEST_P(LinearTest, JoinsWeightsByRows) {
    const at::Tensor q = random({40, 70});
    const at::Tensor k = random({16, 70});
    const at::Tensor v = random({5, 70});
    const at::Tensor bias = random({61});
    const PackedWeight joined =
        PackedWeight::joined({PackedWeight::of(q), PackedWeight::of(k), PackedWeight::of(v)});
    for (const int64_t rows : {1, 30}) {
        const at::Tensor x = random({rows, 70});
        expectProduct(x, at::cat({q, k, v}), bias, run(x, joined, bias));
    }
}

TEST_P(LinearTest, TakesAnyLeadingDimensionsAndStrides) {
    const at::Tensor weight = random({20, 24});
    const PackedWeight packed = PackedWeight::of(weight.t().contiguous().t());
    const at::Tensor x = random({2, 3, 24});
    expectProduct(x, weight, std::nullopt, run(x, packed));
    expectProduct(x, weight, std::nullopt, run(testing::stridedCopy(x), packed));
    const at::Tensor row = random({24});
    expectProduct(row, weight, std::nullopt, run(row, packed));
}

TEST_P(LinearTest, HandlesNothing) {
    EXPECT_EQ(run(random({0, 8}), PackedWeight::of(random({5, 8}))).sizes(), (at::IntArrayRef{0, 5}));
    EXPECT_EQ(run(random({3, 8}), PackedWeight::of(random({0, 8}))).sizes(), (at::IntArrayRef{3, 0}));
    const at::Tensor bias = random({5});
    EXPECT_TRUE(at::equal(run(random({2, 0}), PackedWeight::of(random({5, 0})), bias), bias.expand({2, 5})));
}

TEST_P(LinearTest, RoundsOnceAndKeepsWhatIsNotFinite) {
    // 1 + 2^-8 lies between two bfloat16 numbers and goes to the even one, 1; 1 + 3 * 2^-8 goes to 1 + 2^-6.
    const at::Tensor x = at::ones({1, 2}).to(dtype());
    const at::Tensor weight =
        at::tensor({1.0, std::ldexp(1, -8), 1.0, 3 * std::ldexp(1, -8)}).reshape({2, 2}).to(dtype());
    const double sum = dtype() == at::kFloat ? 1 + std::ldexp(1, -8) : 1;
    const double other = dtype() == at::kFloat ? 1 + 3 * std::ldexp(1, -8) : 1 + std::ldexp(1, -6);
    EXPECT_EQ(toDoubles(run(x, PackedWeight::of(weight))), (std::vector<double>{sum, other}));
    const double infinity = std::numeric_limits<double>::infinity();
    const at::Tensor odd = at::tensor({infinity, std::nan("")}).reshape({2, 1}).to(dtype());
    const std::vector<double> result = toDoubles(run(odd, PackedWeight::of(at::ones({3, 1}).to(dtype()))));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(result[static_cast<size_t>(i)], infinity);
        EXPECT_TRUE(std::isnan(result[static_cast<size_t>(3 + i)]));
    }
}

TEST_P(LinearTest, RefusesWrongArguments) {
    const PackedWeight weight = PackedWeight::of(random({5, 8}));
    expectRefused(
        [&] {
            run(random({3, 9}), weight);
        },
        "workbench::linear: input must be [..., 8], got [3, 9]");
    expectRefused([&] { run(random({3, 8}).to(at::kHalf), weight); }, "input must have the dtype");
    expectRefused([&] { run(random({3, 8}), weight, random({4})); }, "bias must be [5], got [4]");
    expectRefused([&] { PackedWeight::of(random({8})); }, "only matrices of float32 or bfloat16");
    expectRefused(
        [&] {
            PackedWeight::of(random({8, 8}).to(at::kHalf));
        },
        "only matrices of float32 or bfloat16");
    expectRefused(
        [&] {
            PackedWeight::joined({weight, PackedWeight::of(random({5, 9}))});
        },
        "different dtypes, formats or widths cannot be joined");
}

TEST(Linear, WritesIntoGivenOutput) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const at::Tensor input = at::randn({3, 8}).to(dtype);
        const at::Tensor bias = at::randn({5}).to(dtype);
        const PackedWeight weight = PackedWeight::of(at::randn({5, 8}).to(dtype));
        at::Tensor output = at::zeros({3, 5}, dtype);
        linearInto(output, input, weight, bias);
        EXPECT_TRUE(at::equal(output, linear(input, weight, bias)));
        const auto call = bindLinear(output, input, weight, bias);
        ASSERT_TRUE(call.has_value());
        input.mul_(2); // new numbers in the same tensor
        cpuKernels().linear(*call);
        EXPECT_TRUE(at::equal(output, linear(input, weight, bias)));
        EXPECT_FALSE(bindLinear(output, at::randn({8, 3}).to(dtype).t(), weight, bias).has_value());
        at::Tensor narrow = at::zeros({3, 4}, dtype);
        expectRefused([&] { linearInto(narrow, input, weight, bias); }, "output must be [3, 5], got [3, 4]");
        expectRefused([&] { bindLinear(narrow, input, weight, bias); }, "output must be [3, 5], got [3, 4]");

        at::Tensor rows = at::zeros({2, 8}, dtype);
        const at::Tensor indices = at::tensor({4, 0}, at::kLong);
        embeddingInto(rows, weight, indices);
        EXPECT_TRUE(at::equal(rows, embedding(weight, indices)));
        expectRefused([&] { embeddingInto(narrow, weight, indices); }, "output must be contiguous [2, 8]");
    }
}

INSTANTIATE_TEST_SUITE_P(All, LinearTest, ::testing::ValuesIn(allCases()), caseName);

TEST(PackedWeight, GivesItsRowsBack) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16})
        for (const int64_t columns : {1, 2, 33}) {
            const at::Tensor first = at::randn({35, columns}).to(dtype);
            const at::Tensor second = at::randn({3, columns}).to(dtype);
            const PackedWeight joined =
                PackedWeight::joined({PackedWeight::of(first), PackedWeight::of(second)});
            EXPECT_TRUE(at::equal(joined.unpacked(), at::cat({first, second})));
            const at::Tensor indices = at::tensor({37, 0, 16, 34}, at::kLong).reshape({2, 2});
            EXPECT_TRUE(
                at::equal(embedding(joined, indices), at::embedding(at::cat({first, second}), indices)));
        }
}

TEST(PackedWeight, RefusesRowsThatItDoesNotHave) {
    const PackedWeight weight = PackedWeight::of(at::randn({5, 8}));
    expectRefused([&] { embedding(weight, at::tensor({5}, at::kLong)); }, "index 5 is not one of the 5 rows");
    expectRefused([&] { embedding(weight, at::tensor({-1}, at::kLong)); },
                  "index -1 is not one of the 5 rows");
    expectRefused([&] { embedding(weight, at::randn({1})); }, "indices must be int64 or int32");
}

} // namespace
} // namespace workbench::ops
