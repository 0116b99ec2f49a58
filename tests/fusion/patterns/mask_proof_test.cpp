#include "fusion/patterns/mask_proof.h"
#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

/// "causal", "sliding 3", "full" or "unproven" of the value %m that the lines make; rows %r are [s0, 1],
/// columns %c are [s0].
std::string proof(std::string_view lines, bool inverted = false) {
    const Graph graph = canonical(
        "input %x: f32[s0]\nbuffer %b: bool[8, 8] \"bias\"\n%c: i64[s0] = aten.arange.default(end=s0)\n"
        "%r: i64[s0, 1] = aten.unsqueeze.default(self=%c, dim=1)\n" +
        std::string(lines) + "output %m, %c, %r, %x, %b\n");
    const auto proven = proveMask(GraphView(graph), graph.outputs.front(), inverted);
    if (!proven)
        return "unproven";
    return proven->kind + (proven->kind == "sliding" ? " " + std::to_string(proven->window) : "");
}

TEST(MaskProof, ReadsComparisonsOfRowAndColumn) {
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.ge.Tensor(self=%r, other=%c)\n"), "causal");
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.le.Tensor(self=%c, other=%r)\n"), "causal");
    EXPECT_EQ(proof("%n: i64[s0, 1] = aten.add.Tensor(self=%r, other=1)\n%m: bool[s0, s0] = "
                    "aten.lt.Tensor(self=%c, other=%n)\n"),
              "causal");
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.gt.Tensor(self=%c, other=%r)\n", true), "causal");
}

TEST(MaskProof, ReadsAWindow) {
    // transformers: key > query - window, and key <= query.
    EXPECT_EQ(proof("%a: bool[s0, s0] = aten.le.Tensor(self=%c, other=%r)\n%w: i64[s0, 1] = "
                    "aten.sub.Tensor(self=%r, other=3)\n"
                    "%l: bool[s0, s0] = aten.gt.Tensor(self=%c, other=%w)\n%m: bool[s0, s0] = "
                    "aten.__and__.Tensor(self=%a, other=%l)\n"),
              "sliding 3");
}

TEST(MaskProof, TheDiagonalIsAWindowOfOne) {
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.eq.Tensor(self=%r, other=%c)\n"), "sliding 1");
}

TEST(MaskProof, ReadsMasksOfWhatIsHidden) {
    EXPECT_EQ(proof("%f: bool[s0, s0] = aten.gt.Tensor(self=%c, other=%r)\n"
                    "%w: i64[s0, 1] = aten.sub.Tensor(self=%r, other=3)\n"
                    "%o: bool[s0, s0] = aten.le.Tensor(self=%c, other=%w)\n"
                    "%m: bool[s0, s0] = aten.__or__.Tensor(self=%f, other=%o)\n",
                    true),
              "sliding 3");
}

TEST(MaskProof, ReadsTriangles) {
    EXPECT_EQ(proof("%o: bool[s0, s0] = aten.ones.default(size=[s0, s0], dtype=dtype:bool)\n%m: bool[s0, s0] "
                    "= aten.tril.default(self=%o)\n"),
              "causal");
    EXPECT_EQ(proof("%o: bool[s0, s0] = aten.ones.default(size=[s0, s0], dtype=dtype:bool)\n%m: bool[s0, s0] "
                    "= aten.triu.default(self=%o, diagonal=1)\n",
                    true),
              "causal");
    EXPECT_EQ(proof("%o: f32[s0, s0] = aten.full.default(size=[s0, s0], fill_value=-inf)\n%m: f32[s0, s0] = "
                    "aten.triu.default(self=%o, diagonal=1)\n"),
              "causal");
}

TEST(MaskProof, ReadsAddedMasks) {
    const std::string seen = "%s: bool[s0, s0] = aten.ge.Tensor(self=%r, other=%c)\n%f: f32[s0, s0] = "
                             "aten._to_copy.default(self=%s, dtype=dtype:f32)\n";
    EXPECT_EQ(proof(seen + "%i: f32[s0, s0] = aten.rsub.Scalar(self=%f, other=1.0)\n%m: f32[s0, s0] = "
                           "aten.mul.Tensor(self=%i, other=-3.4e38)\n"),
              "causal");
    EXPECT_EQ(proof(seen + "%i: f32[s0, s0] = aten.rsub.Scalar(self=%f, other=1.0)\n%m: f32[s0, s0] = "
                           "aten.mul.Tensor(self=%i, other=-10.0)\n"),
              "unproven");
}

TEST(MaskProof, ProvesNothingOfPositionsThatWrapAround) {
    const auto through = [](const std::string& dtype) {
        return proof("%n: " + dtype + "[s0, 1] = aten._to_copy.default(self=%r, dtype=dtype:" + dtype +
                     ")\n%d: " + dtype + "[s0] = aten._to_copy.default(self=%c, dtype=dtype:" + dtype +
                     ")\n%m: bool[s0, s0] = aten.ge.Tensor(self=%n, other=%d)\n");
    };
    EXPECT_EQ(through("i32"), "causal");
    EXPECT_EQ(through("i16"), "unproven");
    EXPECT_EQ(through("u8"), "unproven");
}

TEST(MaskProof, ProvesNothingOfOtherSets) {
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.gt.Tensor(self=%r, other=%c)\n"), "unproven");
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.le.Tensor(self=%r, other=%c)\n"), "unproven");
    EXPECT_EQ(proof("%m: bool[s0, s0] = aten.ge.Tensor(self=%r, other=%c)\n", true), "unproven");
    EXPECT_EQ(proof("%w: i64[s0, 1] = aten.sub.Tensor(self=%r, other=3)\n%m: bool[s0, s0] = "
                    "aten.gt.Tensor(self=%c, other=%w)\n"),
              "unproven");
    EXPECT_EQ(proof("%d: i64[s0, 1] = aten.mul.Tensor(self=%r, other=2)\n%m: bool[s0, s0] = "
                    "aten.ge.Tensor(self=%d, other=%c)\n"),
              "unproven");
}

TEST(MaskProof, ProvesNothingOfBuffersAndInputs) {
    EXPECT_EQ(proof("%m: bool[8, 8] = aten.logical_not.default(self=%b)\n"), "unproven");
    EXPECT_EQ(proof("%m: bool[s0] = aten.gt.Scalar(self=%x, other=0)\n"), "unproven");
    EXPECT_EQ(proof("%n: i64[s0] = aten._to_copy.default(self=%x, dtype=dtype:i64)\n%m: bool[s0, s0] = "
                    "aten.ge.Tensor(self=%r, other=%n)\n"),
              "unproven");
}

TEST(MaskProof, FollowsThePackedSequenceTestOfTransformers) {
    // Positions are 0, 1, 2, ..., so that all neighbours differ by one and no second sequence starts.
    EXPECT_EQ(proof("%p: i64[1, s0] = aten.unsqueeze.default(self=%c, dim=0)\n"
                    "%first: i64[1, 1] = aten.slice.Tensor(self=%p, dim=1, start=0, end=1)\n"
                    "%before: i64[1, 1] = aten.sub.Tensor(self=%first, other=1)\n"
                    "%steps: i64[1, s0] = aten.diff.default(self=%p, n=1, dim=-1, prepend=%before)\n"
                    "%jumps: bool[1, s0] = aten.ne.Scalar(self=%steps, other=1)\n"
                    "%run: i64[1, s0] = aten.cumsum.default(self=%jumps, dim=-1)\n"
                    "%zero: i64[1] = aten.arange.default(end=1)\n%zz: i64[1, 1] = "
                    "aten.unsqueeze.default(self=%zero, dim=1)\n"
                    "%runr: i64[s0, 1] = aten.index.Tensor(self=%run, indices=[%zz, %r])\n"
                    "%runc: i64[1, s0] = aten.index.Tensor(self=%run, indices=[%zz, %c])\n"
                    "%one: bool[s0, s0] = aten.eq.Tensor(self=%runr, other=%runc)\n"
                    "%seen: bool[s0, s0] = aten.le.Tensor(self=%c, other=%r)\n"
                    "%m: bool[s0, s0] = aten.__and__.Tensor(self=%seen, other=%one)\n"),
              "causal");
}

} // namespace
} // namespace workbench::test
