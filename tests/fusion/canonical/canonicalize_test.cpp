#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

/// The canonical form of a graph of two inputs, as text without its inputs and output.
std::string nodes(std::string_view lines) {
    const std::string text = "parameter %w: f32[16, 8] \"w\"\nparameter %b: f32[16] \"b\"\ninput %x: f32[1, "
                             "s0, 8]\ninput %flat: f32[s0, 8]\n" +
                             std::string(lines) + "\n";
    const std::string all = print(canonical(text), {.locations = false});
    const std::size_t start =
        all.find("input %flat: f32[s0, 8]\n") + std::string_view("input %flat: f32[s0, 8]\n").size();
    return all.substr(start);
}

TEST(Canonicalize, DropsAssertionsAndDeadNodes) {
    EXPECT_EQ(nodes("%dead: f32[1, s0, 8] = aten.neg.default(self=%x)\noutput %x"), "output %x\n");
}

TEST(Canonicalize, DropsParametersThatNothingReads) {
    EXPECT_EQ(print(canonical("parameter %w: f32[8] \"w\"\ninput %x: f32[8]\ninput %y: f32[8]\noutput %x\n"),
                    {.locations = false}),
              "input %x: f32[8]\ninput %y: f32[8]\noutput %x\n");
}

TEST(Canonicalize, DropsCopiesAndCastsToTheSameDtype) {
    for (const char* copy :
         {"aten.clone.default(self=%x)", "aten.alias.default(self=%x)", "aten.contiguous.default(self=%x)",
          "aten._to_copy.default(self=%x, dtype=dtype:f32)", "aten.type_as.default(self=%x, other=%flat)",
          "aten.to.dtype(self=%x, dtype=dtype:f32)", "aten.dropout.default(input=%x, p=0.1, train=false)",
          "aten.view.default(self=%x, size=[1, -1, 8])", "aten.expand.default(self=%x, size=[1, -1, 8])",
          "aten.slice.Tensor(self=%x, dim=1, start=0, end=9223372036854775807)",
          "aten.mul.Tensor(self=%x, other=1.0)", "aten.div.Tensor(self=%x, other=1)",
          "aten.cat.default(tensors=[%x], dim=1)", "aten.permute.default(self=%x, dims=[0, 1, 2])"})
        EXPECT_EQ(nodes("%y: f32[1, s0, 8] = " + std::string(copy) + "\noutput %y"), "output %x\n") << copy;
}

TEST(Canonicalize, KeepsDropoutOfTraining) {
    EXPECT_NE(nodes("%y: f32[1, s0, 8] = aten.dropout.default(input=%x, p=0.1, train=true)\noutput %y")
                  .find("aten.dropout"),
              std::string::npos);
}

TEST(Canonicalize, KeepsAProductThatChangesTheDtype) {
    const std::string text =
        print(canonical("input %n: i64[4]\n%y: f32[4] = aten.mul.Tensor(self=%n, other=1.0)\noutput %y\n"),
              {.locations = false});
    EXPECT_NE(text.find("aten.mul"), std::string::npos) << text;
}

TEST(Canonicalize, WritesCastsOneWay) {
    for (const char* cast :
         {"aten._to_copy.default(self=%x, dtype=dtype:bf16, layout=layout:strided, device=device:cpu)",
          "aten.to.dtype(self=%x, dtype=dtype:bf16, non_blocking=false, copy=false)"})
        EXPECT_EQ(nodes("%y: bf16[1, s0, 8] = " + std::string(cast) + "\noutput %y"),
                  "%y: bf16[1, s0, 8] = aten._to_copy.default(self=%x, dtype=dtype:bf16)\noutput %y\n");
}

TEST(Canonicalize, WritesViewsOneWayAndFoldsThem) {
    for (const char* view : {"aten.view.default(self=%x, size=[1, -1, 2, 4])",
                             "aten.reshape.default(self=%x, shape=[1, s0, 2, 4])",
                             "aten._unsafe_view.default(self=%x, size=[1, s0, 2, 4])",
                             "aten.unflatten.int(self=%x, dim=2, sizes=[2, 4])"})
        EXPECT_EQ(nodes("%y: f32[1, s0, 2, 4] = " + std::string(view) + "\noutput %y"),
                  "%y: f32[1, s0, 2, 4] = aten.reshape.default(self=%x, shape=[1, s0, 2, 4])\noutput %y\n");
    EXPECT_EQ(nodes("%a: f32[s0, 8] = aten.view.default(self=%x, size=[-1, 8])\n%y: f32[s0, 2, 4] = "
                    "aten.view.default(self=%a, size=[-1, 2, 4])\noutput %y"),
              "%y: f32[s0, 2, 4] = aten.reshape.default(self=%x, shape=[s0, 2, 4])\noutput %y\n");
    EXPECT_EQ(nodes("%a: f32[s0, 8] = aten.view.default(self=%x, size=[-1, 8])\n%y: f32[1, s0, 8] = "
                    "aten.view.default(self=%a, size=[1, -1, 8])\noutput %y"),
              "output %x\n");
}

TEST(Canonicalize, KeepsAViewAsAnotherDtype) {
    EXPECT_NE(nodes("%y: i32[1, s0, 8] = aten.view.dtype(self=%x, dtype=dtype:i32)\noutput %y")
                  .find("aten.view.dtype"),
              std::string::npos);
}

TEST(Canonicalize, WritesTransposesOneWay) {
    for (const char* turn :
         {"aten.transpose.int(self=%x, dim0=-1, dim1=1)", "aten.permute.default(self=%x, dims=[0, 2, 1])",
          "aten.transpose.int(self=%x, dim0=1, dim1=2)"})
        EXPECT_EQ(nodes("%y: f32[1, 8, s0] = " + std::string(turn) + "\noutput %y"),
                  "%y: f32[1, 8, s0] = aten.transpose.int(self=%x, dim0=1, dim1=2)\noutput %y\n");
}

TEST(Canonicalize, SplitsAreSlices) {
    constexpr std::string_view expected =
        "%p: f32[1, s0, 4] = aten.slice.Tensor(self=%x, dim=2, start=0, end=4, step=1)\n"
        "%q: f32[1, s0, 4] = aten.slice.Tensor(self=%x, dim=2, start=4, end=8, step=1)\noutput %p, %q\n";
    for (const char* split :
         {"aten.split.Tensor(self=%x, split_size=4, dim=-1)", "aten.chunk.default(self=%x, chunks=2, dim=2)",
          "aten.split_with_sizes.default(self=%x, split_sizes=[4, 4], dim=-1)"})
        EXPECT_EQ(nodes("%p: f32[1, s0, 4], %q: f32[1, s0, 4] = " + std::string(split) + "\noutput %p, %q"),
                  expected)
            << split;
    EXPECT_EQ(nodes("%p: f32[1, s0, 4] = aten.slice.Tensor(self=%x, dim=2, start=0, end=-4)\n"
                    "%q: f32[1, s0, 4] = aten.slice.Tensor(self=%x, dim=-1, start=-4, "
                    "end=9223372036854775807)\noutput %p, %q"),
              expected);
}

TEST(Canonicalize, EmptyPiecesAreLeftOut) {
    EXPECT_EQ(
        nodes("%none: f32[1, s0, 0] = aten.slice.Tensor(self=%x, dim=2, start=8, end=9223372036854775807)\n"
              "%y: f32[1, s0, 8] = aten.cat.default(tensors=[%x, %none], dim=-1)\noutput %y"),
        "output %x\n");
}

TEST(Canonicalize, ProductsWithATransposedWeightAreLinear) {
    const std::string turn = "%t: f32[8, 16] = aten.t.default(self=%w)\n";
    constexpr std::string_view plain =
        "%y: f32[s0, 16] = aten.linear.default(input=%flat, weight=%w)\noutput %y\n";
    EXPECT_EQ(nodes(turn + "%y: f32[s0, 16] = aten.mm.default(self=%flat, mat2=%t)\noutput %y"), plain);
    EXPECT_EQ(nodes(turn + "%y: f32[s0, 16] = aten.matmul.default(self=%flat, other=%t)\noutput %y"), plain);
    EXPECT_EQ(nodes("%y: f32[s0, 16] = aten.linear.default(input=%flat, weight=%w, bias=none)\noutput %y"),
              plain);
    EXPECT_EQ(nodes(turn + "%y: f32[s0, 16] = aten.addmm.default(self=%b, mat1=%flat, mat2=%t)\noutput %y"),
              "%y: f32[s0, 16] = aten.linear.default(input=%flat, weight=%w, bias=%b)\noutput %y\n");
}

TEST(Canonicalize, AProductThatFoldsLeadingDimsIsLinearOverAll) {
    EXPECT_EQ(nodes("%t: f32[8, 16] = aten.t.default(self=%w)\n%f: f32[s0, 8] = aten.view.default(self=%x, "
                    "size=[-1, 8])\n"
                    "%m: f32[s0, 16] = aten.addmm.default(self=%b, mat1=%f, mat2=%t)\n%y: f32[1, s0, 16] = "
                    "aten.view.default(self=%m, size=[1, -1, 16])\noutput %y"),
              "%y: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%w, bias=%b)\noutput %y\n");
}

TEST(Canonicalize, KeepsAProductWhoseWeightIsStoredTurned) {
    const std::string text =
        print(canonical("parameter %w: f32[8, 16] \"w\"\nparameter %b: f32[16] \"b\"\ninput %x: f32[4, 8]\n"
                        "%y: f32[4, 16] = aten.addmm.default(self=%b, mat1=%x, mat2=%w)\noutput %y\n"),
              {.locations = false});
    EXPECT_NE(text.find("aten.addmm"), std::string::npos) << text;
}

TEST(Canonicalize, DividesByARootOnlyWhereARoundingIsSmall) {
    const std::string wide =
        "input %x: f32[4]\ninput %v: f32[4]\n%r: f32[4] = aten.sqrt.default(self=%v)\n%y: f32[4] = "
        "aten.div.Tensor(self=%x, other=%r)\noutput %y\n";
    EXPECT_EQ(print(canonical(wide), {.locations = false}),
              "input %x: f32[4]\ninput %v: f32[4]\n%y_rsqrt: f32[4] = aten.rsqrt.default(self=%v)\n"
              "%y: f32[4] = aten.mul.Tensor(self=%x, other=%y_rsqrt)\noutput %y\n");
    EXPECT_NE(print(canonical(changed(wide, "f32", "bf16")), {.locations = false}).find("aten.div"),
              std::string::npos);
}

TEST(Canonicalize, EqualNodesOfOneModuleAreOne) {
    EXPECT_EQ(
        nodes("%a: f32[1, s0, 8] = aten.neg.default(self=%x)\n%c: f32[1, s0, 8] = aten.neg.default(self=%x)\n"
              "%y: f32[1, s0, 8] = aten.add.Tensor(self=%a, other=%c)\noutput %y"),
        "%a: f32[1, s0, 8] = aten.neg.default(self=%x)\n%y: f32[1, s0, 8] = aten.add.Tensor(self=%a, "
        "other=%a)\noutput %y\n");
}

TEST(Canonicalize, RandomNodesStayApart) {
    const std::string text = nodes("%a: f32[1, s0, 8] = aten.rand_like.default(self=%x)\n%c: f32[1, s0, 8] = "
                                   "aten.rand_like.default(self=%x)\n"
                                   "%y: f32[1, s0, 8] = aten.add.Tensor(self=%a, other=%c)\noutput %y");
    EXPECT_NE(text.find("other=%c"), std::string::npos) << text;
}

TEST(Canonicalize, NodesRememberWhatTheyCameFrom) {
    const Graph graph = canonical("input %x: f32[4]\n%c: f32[4] = aten.clone.default(self=%x)\n%y: f32[4] = "
                                  "aten.neg.default(self=%c)\noutput %y\n");
    ASSERT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(graph.nodes[0].origins, std::vector<NodeId>{1});
}

TEST(Canonicalize, IsItsOwnCanonicalForm) {
    const Graph once = canonical("input %x: f32[1, s0, 8]\n%a: f32[1, s0, 4], %b: f32[1, s0, 4] = "
                                 "aten.chunk.default(self=%x, chunks=2, dim=-1)\n"
                                 "%r: f32[1, s0, 4] = aten.sqrt.default(self=%b)\n%y: f32[1, s0, 4] = "
                                 "aten.div.Tensor(self=%a, other=%r)\noutput %y\n");
    const Result<Graph> twice = canonicalize(once);
    ASSERT_TRUE(twice.ok());
    EXPECT_EQ(print(*twice), print(once));
}

TEST(Canonicalize, NamesAnOpThatReadsByStrides) {
    // The copy is dropped: the strides would then reach into the value that was copied.
    const Result<Graph> graph = canonicalize(
        parsed("module \"\" M\ninput %x: f32[4, 2]\n%t: f32[2, 4] = aten.t.default(self=%x)\n%c: f32[2, 4] = "
               "aten.clone.default(self=%t, memory_format=memory_format:contiguous_format)\n%y: f32[4] = "
               "aten.as_strided.default(self=%c, size=[4], stride=[1])\noutput %y\n"));
    ASSERT_FALSE(graph.ok());
    EXPECT_NE(graph.error().message.find("aten.as_strided.default (%y) reads memory by strides"),
              std::string::npos)
        << graph.error().message;
}

TEST(Canonicalize, NamesAnOpThatWritesIntoItsInput) {
    for (const char* op :
         {"aten.add_.Tensor(self=%x, other=%x)", "aten.copy_.default(self=%x, src=%x)",
          "aten.__ior__.Tensor(self=%x, other=%x)", "aten.add.out(self=%x, other=%x, out=%x)"}) {
        const Result<Graph> graph = canonicalize(
            parsed("module \"\" M\nmodule \"mlp\" MLP\ninput %x: f32[4]\n%y: f32[4] = " + std::string(op) +
                   " @\"mlp\" from \"model.py\":7 forward\noutput %y\n"));
        ASSERT_FALSE(graph.ok()) << op;
        EXPECT_NE(graph.error().message.find("(%y) writes into its input"), std::string::npos)
            << graph.error().message;
        EXPECT_EQ(graph.error().where, "mlp, model.py:7");
    }
}

} // namespace
} // namespace workbench::test
