#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

constexpr std::string_view kLlama = R"(
module "" Model
module "norm" LlamaRMSNorm
parameter %w: bf16[64] "norm.weight"
input %x: bf16[1, s0, 64]
%wide: f32[1, s0, 64] = aten._to_copy.default(self=%x, dtype=dtype:f32) @"norm"
%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%wide, exponent=2) @"norm"
%mean: f32[1, s0, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"norm"
%variance: f32[1, s0, 1] = aten.add.Tensor(self=%mean, other=1e-05) @"norm"
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance) @"norm"
%normed: f32[1, s0, 64] = aten.mul.Tensor(self=%wide, other=%inverse) @"norm"
%narrow: bf16[1, s0, 64] = aten._to_copy.default(self=%normed, dtype=dtype:bf16) @"norm"
%y: bf16[1, s0, 64] = aten.mul.Tensor(self=%w, other=%narrow) @"norm"
output %y
)";

constexpr std::string_view kFused =
    R"(parameter %w: bf16[64] "norm.weight"
input %x: bf16[1, s0, 64]
%y: bf16[1, s0, 64] = workbench.rms_norm(input=%x, weight=%w, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %y
)";

constexpr std::string_view kGemma = R"(
module "" Model
module "norm" GemmaRMSNorm
parameter %w: bf16[64] "norm.weight"
input %x: bf16[1, s0, 64]
%wide: f32[1, s0, 64] = aten._to_copy.default(self=%x, dtype=dtype:f32) @"norm"
%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%wide, exponent=2) @"norm"
%mean: f32[1, s0, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"norm"
%variance: f32[1, s0, 1] = aten.add.Tensor(self=%mean, other=1e-06) @"norm"
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance) @"norm"
%normed: f32[1, s0, 64] = aten.mul.Tensor(self=%wide, other=%inverse) @"norm"
%ww: f32[64] = aten._to_copy.default(self=%w, dtype=dtype:f32) @"norm"
%w1: f32[64] = aten.add.Tensor(self=%ww, other=1.0) @"norm"
%scaled: f32[1, s0, 64] = aten.mul.Tensor(self=%normed, other=%w1) @"norm"
%y: bf16[1, s0, 64] = aten.type_as.default(self=%scaled, other=%x) @"norm"
output %y
)";

constexpr std::string_view kPlain = R"(
module "" Model
module "norm" Norm
parameter %w: f32[64] "norm.weight"
input %x: f32[1, s0, 64]
%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%x, exponent=2) @"norm"
%mean: f32[1, s0, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"norm"
%variance: f32[1, s0, 1] = aten.add.Tensor(self=%mean, other=1e-05) @"norm"
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance) @"norm"
%normed: f32[1, s0, 64] = aten.mul.Tensor(self=%x, other=%inverse) @"norm"
%y: f32[1, s0, 64] = aten.mul.Tensor(self=%w, other=%normed) @"norm"
output %y
)";

constexpr std::string_view kPlainFused =
    R"(parameter %w: f32[64] "norm.weight"
input %x: f32[1, s0, 64]
%y: f32[1, s0, 64] = workbench.rms_norm(input=%x, weight=%w, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %y
)";

std::string plainRefusal(std::string_view from, std::string_view to) {
    return refusal(canonical(changed(std::string(kPlain), from, to)), "rms-norm");
}

TEST(RmsNorm, FusesLlamaRoundedBeforeTheWeight) {
    EXPECT_EQ(rewritten(canonical(kLlama)), kFused);
}

TEST(RmsNorm, FusesGemmaWithOnePlusWeightRoundedAfterIt) {
    EXPECT_EQ(
        rewritten(canonical(kGemma)),
        changed(changed(changed(std::string(kFused), "before_weight", "after_weight"), "1e-05", "1e-06"),
                "weight_offset=0.0", "weight_offset=1.0"));
}

TEST(RmsNorm, FusesOlmoRoundedAfterAPlainWeight) {
    const std::string text =
        changed(changed(std::string(kLlama), "self=%normed, dtype", "self=%scaled, dtype"),
                "%y: bf16[1, s0, 64] = aten.mul.Tensor(self=%w, other=%narrow) @\"norm\"\noutput %y",
                "output %narrow");
    const std::string product =
        "%scaled: f32[1, s0, 64] = aten.mul.Tensor(self=%w, other=%normed) @\"norm\"\n%narrow:";
    EXPECT_EQ(rewritten(canonical(changed(text, "%narrow:", product))),
              changed(changed(std::string(kFused), "before_weight", "after_weight"), "%y", "%narrow"));
}

TEST(RmsNorm, SwappedOperandsGiveTheSameGraph) {
    std::string swapped = changed(std::string(kLlama), "self=%w, other=%narrow", "self=%narrow, other=%w");
    swapped = changed(swapped, "self=%wide, other=%inverse", "self=%inverse, other=%wide");
    EXPECT_EQ(rewritten(canonical(swapped)), kFused);
}

TEST(RmsNorm, EverySpellingOfSquareAndRootGivesTheSameGraph) {
    const std::string square = "aten.pow.Tensor_Scalar(self=%x, exponent=2)",
                      root = "%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance)",
                      product = "aten.mul.Tensor(self=%x, other=%inverse)", plain(kPlain);
    const std::string sqrt = "%root: f32[1, s0, 1] = aten.sqrt.default(self=%variance) @\"norm\"\n";
    const std::string spellings[] = {
        changed(plain, square, "aten.mul.Tensor(self=%x, other=%x)"),
        changed(plain, square, "aten.square.default(self=%x)"),
        changed(plain, square, "aten.pow.Tensor_Scalar(self=%x, exponent=2.0)"),
        changed(plain, "aten.rsqrt.default(self=%variance)",
                "aten.pow.Tensor_Scalar(self=%variance, exponent=-0.5)"),
        changed(plain, root, sqrt + "%inverse: f32[1, s0, 1] = aten.reciprocal.default(self=%root)"),
        changed(plain, root,
                sqrt + "%once: f32[1, s0, 1] = aten.reciprocal.default(self=%root) @\"norm\"\n%inverse: "
                       "f32[1, s0, 1] = aten.mul.Tensor(self=%once, other=1)"),
        changed(changed(plain, root, "%inverse: f32[1, s0, 1] = aten.sqrt.default(self=%variance)"), product,
                "aten.div.Tensor(self=%x, other=%inverse)"),
        changed(plain, "dim=[-1]", "dim=[2]"),
    };
    for (const std::string& spelling : spellings)
        EXPECT_EQ(rewritten(canonical(spelling)), kPlainFused) << spelling;
}

TEST(RmsNorm, SpellingsHaveEqualSites) {
    const Analysis one = analyze(canonical(kPlain));
    const Analysis other =
        analyze(canonical(changed(std::string(kPlain), "aten.rsqrt.default(self=%variance)",
                                  "aten.pow.Tensor_Scalar(self=%variance, exponent=-0.5)")));
    ASSERT_EQ(applicable(one, "rms-norm"), "rms-norm@norm");
    EXPECT_EQ(siteOf(one, "rms-norm@norm").facts, siteOf(other, "rms-norm@norm").facts);
    EXPECT_EQ(siteOf(one, "rms-norm@norm").parameters, siteOf(other, "rms-norm@norm").parameters);
}

TEST(RmsNorm, FusesTorchsOwnOp) {
    constexpr std::string_view text = R"(
parameter %w: f32[64] "norm.weight"
input %x: f32[1, s0, 64]
%y: f32[1, s0, 64] = aten.rms_norm.default(input=%x, normalized_shape=[64], weight=%w, eps=1e-05)
output %y
)";
    EXPECT_EQ(rewritten(canonical(text)), kPlainFused);
    // Without an epsilon torch takes that of f32, whatever the input (torch 2.11, checked in f32, bf16 and
    // f16).
    const std::string half = changed(changed(std::string(text), "f32", "bf16"), ", eps=1e-05", "");
    EXPECT_EQ(rewritten(canonical(half)),
              changed(changed(std::string(kFused), "before_weight", "after_weight"), "1e-05",
                      "1.1920928955078125e-07"));
}

TEST(RmsNorm, FusesWithoutAWeight) {
    const std::string text =
        changed(std::string(kPlain),
                "%y: f32[1, s0, 64] = aten.mul.Tensor(self=%w, other=%normed) @\"norm\"\noutput %y",
                "output %normed");
    EXPECT_EQ(rewritten(canonical(text)), R"(input %x: f32[1, s0, 64]
%normed: f32[1, s0, 64] = workbench.rms_norm(input=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %normed
)");
}

TEST(RmsNorm, ReadsTheSquaredCastWhenXItselfIsMultiplied) {
    // T5 and early Llama multiply the bf16 input; the product widens it.
    EXPECT_EQ(rewritten(canonical(
                  changed(std::string(kLlama), "self=%wide, other=%inverse", "self=%x, other=%inverse"))),
              kFused);
}

TEST(RmsNorm, KeepsACastThatOthersRead) {
    const std::string text = changed(std::string(kLlama), "output %y", "output %y, %wide");
    const std::string graph = rewritten(canonical(text));
    EXPECT_NE(graph.find("workbench.rms_norm(input=%x"), std::string::npos) << graph;
    EXPECT_NE(graph.find("%wide: f32[1, s0, 64] = aten._to_copy.default(self=%x"), std::string::npos)
        << graph;
}

TEST(RmsNorm, SecondRunFindsNothing) {
    for (const std::string_view text : {kLlama, kGemma, kPlain})
        EXPECT_EQ(secondRun(canonical(text)), "");
}

TEST(RmsNorm, RefusesASumInsteadOfTheMean) {
    EXPECT_EQ(plainRefusal("aten.mean.dim", "aten.sum.dim_IntList"),
              "the mean of the squares; aten.sum (%mean)");
}

TEST(RmsNorm, RefusesAnotherDim) {
    const std::string text =
        changed(changed(std::string(kPlain), "dim=[-1]", "dim=[1]"), "f32[1, s0, 1]", "f32[1, 1, 64]");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the mean runs over the last dim; dim=[1]");
}

TEST(RmsNorm, RefusesTwoDims) {
    const std::string text =
        changed(changed(std::string(kPlain), "dim=[-1]", "dim=[1, 2]"), "f32[1, s0, 1]", "f32[1, 1, 1]");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the mean runs over the last dim; dim=[1, 2]");
}

TEST(RmsNorm, RefusesHalfTheWidth) {
    const std::string text =
        changed(std::string(kPlain), "%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%x",
                "%half: f32[1, s0, 32] = aten.slice.Tensor(self=%x, dim=-1, start=0, end=32) @\"norm\"\n"
                "%square: f32[1, s0, 32] = aten.pow.Tensor_Scalar(self=%half");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the multiplied value is the squared one; input %x times "
                                                    "the root of the mean of aten.slice (%half) squared");
}

TEST(RmsNorm, RefusesAMeanThatIsSubtracted) {
    const std::string text =
        changed(changed(std::string(kPlain), "self=%x", "self=%centred"), "%square:",
                "%middle: f32[1, s0, 1] = aten.mean.dim(self=%x, dim=[-1], keepdim=true) @\"norm\"\n"
                "%centred: f32[1, s0, 64] = aten.sub.Tensor(self=%x, other=%middle) @\"norm\"\n%square:");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "no mean is subtracted before; aten.mean (%middle)");
}

TEST(RmsNorm, RefusesAWeightThatIsNoParameter) {
    EXPECT_EQ(plainRefusal("parameter %w: f32[64] \"norm.weight\"", "input %w: f32[64]"),
              "the weight is a parameter; input %w");
}

TEST(RmsNorm, RefusesAWeightOfOneNumber) {
    EXPECT_EQ(plainRefusal("%w: f32[64]", "%w: f32[1]"),
              "the weight has one number per column, [64]; parameter norm.weight of rank 1");
}

TEST(RmsNorm, RefusesAWeightOfAnotherDtype) {
    const std::string text =
        changed(changed(std::string(kLlama), "%w: bf16[64]", "%w: f32[64]"), "%y: bf16", "%y: f32");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the weight has the input's dtype bf16; f32");
}

TEST(RmsNorm, RefusesAnOffsetAddedInTheNarrowDtype) {
    const std::string text =
        changed(changed(std::string(kGemma),
                        "%ww: f32[64] = aten._to_copy.default(self=%w, dtype=dtype:f32) @\"norm\"\n", ""),
                "%w1: f32[64] = aten.add.Tensor(self=%ww", "%w1: bf16[64] = aten.add.Tensor(self=%w");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the offset is added in the dtype of the product; bf16");
}

TEST(RmsNorm, RefusesAnOffsetTimesAFactor) {
    const std::string text = changed(std::string(kGemma), "other=1.0)", "other=1.0, alpha=3)");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the weight is a parameter; aten.add (%w1)");
}

TEST(RmsNorm, RefusesAnEpsilonThatIsATensor) {
    const std::string text = changed(changed(std::string(kPlain), "other=1e-05", "other=%e"), "input %x",
                                     "buffer %e: f32[] \"eps\"\ninput %x");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the epsilon is a constant; other=%mean");
}

TEST(RmsNorm, RefusesAnotherValueTimesTheRoot) {
    const std::string text =
        changed(changed(std::string(kPlain), "aten.mul.Tensor(self=%x", "aten.mul.Tensor(self=%z"),
                "input %x", "input %z: f32[1, s0, 64]\ninput %x");
    EXPECT_EQ(
        refusal(canonical(text), "rms-norm"),
        "the multiplied value is the squared one; input %z times the root of the mean of input %x squared");
}

TEST(RmsNorm, RefusesACube) {
    EXPECT_EQ(plainRefusal("exponent=2", "exponent=3"), "exponent=2; exponent=3");
}

TEST(RmsNorm, RefusesAnInnerValueThatIsReadElsewhere) {
    EXPECT_EQ(plainRefusal("output %y", "output %y, %variance"),
              "no value inside of the pattern is used elsewhere; aten.add (%variance) is also used by the "
              "graph's outputs");
}

TEST(RmsNorm, RefusesF64InsideOfF32) {
    const std::string text = changed(changed(std::string(kLlama), "f32", "f64"), "bf16", "f32");
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "the norm computes in f32; f64");
}

TEST(RmsNorm, RefusesStepsThatAreRoundedToBf16) {
    // All in bf16; then only the squares' mean and its root.
    EXPECT_EQ(refusal(canonical(changed(std::string(kPlain), "f32", "bf16")), "rms-norm"),
              "the norm computes in f32; bf16");
    const std::string narrow =
        changed(changed(changed(changed(std::string(kLlama), "%square: f32", "%square: bf16"), "%mean: f32",
                                "%mean: bf16"),
                        "%variance: f32", "%variance: bf16"),
                "%inverse: f32", "%inverse: bf16");
    EXPECT_EQ(refusal(canonical(changed(narrow, "aten.pow.Tensor_Scalar(self=%wide",
                                        "aten.pow.Tensor_Scalar(self=%x")),
                      "rms-norm"),
              "the norm computes in f32; bf16");
}

TEST(RmsNorm, RefusesLayerNorm) {
    constexpr std::string_view text = R"(
parameter %w: f32[64] "norm.weight"
parameter %b: f32[64] "norm.bias"
input %x: f32[1, s0, 64]
%y: f32[1, s0, 64] = aten.layer_norm.default(input=%x, normalized_shape=[64], weight=%w, bias=%b, eps=1e-05)
output %y
)";
    EXPECT_EQ(refusal(canonical(text), "rms-norm"), "a norm that subtracts no mean; aten.layer_norm");
}

TEST(RmsNorm, CountsItsPlacesWithoutTheMatcher) {
    const Analysis analysis =
        analyze(canonical(changed(std::string(kPlain), "aten.mean.dim", "aten.sum.dim_IntList")));
    for (const Coverage& coverage : analysis.coverage)
        if (coverage.pattern == "rms-norm") {
            EXPECT_EQ(coverage.places, 1);
            EXPECT_EQ(coverage.found, 0);
        }
}

} // namespace
} // namespace workbench::test
