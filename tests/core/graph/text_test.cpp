#include "core/graph/text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

namespace workbench {
namespace {

std::string roundTrip(std::string_view text) {
    const Result<Graph> graph = parseGraph(text);
    return graph ? print(*graph) : "error: " + graph.error().message;
}

std::string errorOf(std::string_view text) {
    const Result<Graph> graph = parseGraph(text);
    return graph ? "no error" : graph.error().message;
}

constexpr const char* kEverything = R"(module ""
module "model" LlamaModel
module "model.norm" "Odd<locals>.Name"
input %x: f32[1, s0, 64]
input %ids: i64[1, 2*s0 + 1] "input_ids"
parameter %w: bf16[64] "model.norm.weight"
parameter %qkv: f32[128, 64] "qkv.weight" = cat(0, "q.weight", "k.weight")
buffer %inv: f32[32] "model.rotary_emb.inv_freq"
constant %c: bool[] "lifted_tensor_0"
%y: f32[1, s0, 64] = aten.mul.Tensor(self=%x, other=%w) @"model.norm" from "modeling_llama.py":52 forward
%a: f32[1, s0, 32], %b: f32[1, s0, 32] = aten.split_with_sizes.default(self=%y, split_sizes=[32, 32], dim=-1) from "a \"b\".py":7 "<lambda>"
%v: f32[s0, 64] = aten.view.default(self=%y, size=[Max(1, s0), -1, s0//2], flag=true, nothing=none)
%"odd name": f32[64] = aten.to.dtype(self=%w, eps=1e-05, scale=2.0, low=-inf, bad=nan, dtype=dtype:bf16, layout=layout:strided, device=device:cuda:0, memory_format=memory_format:contiguous_format)
%i: f32[3] = aten.index.Tensor(self=%v, indices=[none, %ids], kinds=[true, false], factors=[0.5, 1.0], empty=[], mode="a\n\x01\\")
aten._assert_async.msg(self=%c, assert_msg="no")
output %i, %"odd name"
)";

TEST(GraphText, PrintsWhatItParsed) {
    EXPECT_EQ(roundTrip(kEverything), kEverything);
}

TEST(GraphText, ArgumentsKeepTheirKinds) {
    const Graph graph = parseGraph(kEverything).value();
    const Node& cast = graph.node(3);
    EXPECT_EQ(std::get<double>(*argument(cast, "eps")), 1e-05);
    EXPECT_EQ(std::get<double>(*argument(cast, "scale")), 2.0);
    EXPECT_EQ(std::get<ScalarType>(*argument(cast, "dtype")), ScalarType::bf16);
    EXPECT_EQ(std::get<Keyword>(*argument(cast, "device")), (Keyword{Keyword::Kind::device, "cuda:0"}));
    const Node& index = graph.node(4);
    EXPECT_EQ(std::get<std::vector<ValueRef>>(*argument(index, "indices"))[0].id, kNone);
    EXPECT_TRUE(std::get<std::vector<SymInt>>(*argument(index, "empty")).empty());
    EXPECT_EQ(std::get<std::string>(*argument(index, "mode")), "a\n\x01\\");
    EXPECT_TRUE(std::holds_alternative<None>(*argument(graph.node(2), "nothing")));
    EXPECT_EQ(graph.inputs[3].derived->sources, (std::vector<std::string>{"q.weight", "k.weight"}));
    EXPECT_EQ(graph.modulePath(0), "model.norm");
    EXPECT_EQ(graph.sourceFrame(0)->line, 52);
}

TEST(GraphText, LocationsCanBeLeftOut) {
    const Graph graph = parseGraph(kEverything).value();
    const std::string text = print(graph, {.locations = false});
    EXPECT_EQ(text.find("module"), std::string::npos);
    EXPECT_EQ(text.find("from"), std::string::npos);
    EXPECT_EQ(roundTrip(text), text);
}

TEST(GraphText, CommentsAndUndeclaredModulesAreAccepted) {
    const Graph graph =
        parseGraph("# head\n\ninput %x: f32[2] # the input\n%y: f32[2] = aten.neg.default(self=%x) @\"a.b\"\n"
                   "output %y\n# end\n")
            .value();
    EXPECT_EQ(graph.modulePath(0), "a.b");
    EXPECT_EQ(graph.modules.size(), 3U);
}

TEST(GraphText, ErrorsNameLineAndExpectation) {
    EXPECT_EQ(errorOf("input %x: f32[2]\n%y: f32[2] = aten.neg.default(self=%z)\noutput %y\n"),
              "The graph text is malformed: line 2: expected a value that is defined above, found 'z)'.");
    EXPECT_EQ(
        errorOf("input %x: f33[2]\n"),
        "The graph text is malformed: line 1: expected an element type such as f32 or bf16, found 'f33[2]'.");
    EXPECT_EQ(errorOf("input %x: f32[2]\n"),
              "The graph text is malformed: line 1: expected an 'output' line at the end of the line.");
    EXPECT_EQ(errorOf("hello\n"),
              "The graph text is malformed: line 1: expected a statement (module, input, parameter, buffer, "
              "constant, output or a node), found 'hello'.");
    EXPECT_NE(errorOf("input %x: f32[2]\ninput %x: f32[2]\noutput %x\n").find("'x' is used twice"),
              std::string::npos);
}

TEST(GraphText, EveryTruncationIsAnErrorOrAGraph) {
    const std::string_view text = kEverything;
    for (std::size_t length = 0; length < text.size() - 40; ++length)
        EXPECT_FALSE(parseGraph(text.substr(0, length))) << length;
}

TEST(GraphText, DamagedTextNeverCrashes) {
    const std::string original = kEverything;
    for (std::size_t i = 0; i < original.size(); ++i)
        for (char damage : {'%', '(', '"', '\n', '\0', '9', ',', '\\'}) {
            std::string text = original;
            text[i] = damage;
            const Result<Graph> graph = parseGraph(text);
            if (graph) {
                EXPECT_EQ(roundTrip(print(*graph)), print(*graph));
            }
        }
}

TEST(GraphText, TwelveThousandNodesTakeWellUnderASecond) {
    std::string text = "input %v0: f32[1, s0, 64]\n";
    for (int i = 1; i <= 12000; ++i)
        text += "%v" + std::to_string(i) + ": f32[1, s0, 64] = aten.add.Tensor(self=%v" +
                std::to_string(i - 1) + ", other=%v0) @\"model.layers." + std::to_string(i / 130) +
                ".mlp\" from \"m.py\":" + std::to_string(i % 130) + " forward\n";
    text += "output %v12000\n";
    // Processor time: the machine may be busy.
    const std::clock_t start = std::clock();
    const Graph graph = parseGraph(text).value();
    const std::clock_t parsedAt = std::clock();
    const std::string printed = print(graph);
    const std::clock_t printedAt = std::clock();
    EXPECT_EQ(graph.nodes.size(), 12000U);
    const auto ms = [](std::clock_t ticks) { return 1e3 * static_cast<double>(ticks) / CLOCKS_PER_SEC; };
    std::printf("parse %.1f ms, print %.1f ms, %zu bytes\n", ms(parsedAt - start), ms(printedAt - parsedAt),
                printed.size());
    EXPECT_LT(ms(printedAt - start), 1000); // 15 ms without sanitizers; quadratic work takes seconds
}

} // namespace
} // namespace workbench
