#include "core/archive/pt2_reader.h"
#include "core/archive/pt2_writer.h"
#include "core/graph/compare.h"
#include "core/graph/text.h"
#include "tests/support/temporary_folder.h"

#include <map>

namespace workbench {
namespace {

class Pt2Writer : public TemporaryFolder {
protected:
    std::filesystem::path file() const { return folder() / "a.pt2"; }

    Status write(const Graph& graph, Pt2WriteOptions options = {}) {
        if (!options.data)
            options.data = [this, &graph](const Input& input) -> Result<std::string> {
                ++reads[input.target];
                std::size_t bytes = bytesPerElement(graph.value(input.value).meta.dtype);
                for (const SymInt& size : graph.value(input.value).meta.shape)
                    bytes *= static_cast<std::size_t>(size.constant());
                return std::string(bytes, input.target.back());
            };
        return writePt2(graph, options, file());
    }
    Pt2Archive copyOf(const Graph& graph) {
        const Status written = write(graph);
        EXPECT_TRUE(written) << written.error().message;
        return readPt2(file()).value();
    }

    std::map<std::string, int> reads;
};

constexpr const char* kText = R"(
parameter %wa: f32[4, 3] "a"
parameter %wb: bf16[2] "b"
parameter %unused: f32[9] "unused"
buffer %c: f32[3] "c"
input %x: f32[2, s0, 3]
input %n: i64[s1]
%h: f32[2, s0, 4] = aten.linear.default(input=%x, weight=%wa) @"model.proj" from "m.py":3 forward
%v: f32[2*s0, 4] = aten.view.default(self=%h, size=[2*s0, 4])
%u: f32[s0//2 + 1] = aten.new_zeros.default(self=%v, size=[s0//2 + 1], dtype=dtype:f32, layout=layout:strided, device=device:cpu, pin_memory=false)
%m: f32[Max(3, s0 + s1)] = aten.new_full.default(self=%u, size=[Max(3, s0 + s1)], fill_value=-inf)
%q: f32[2*s0, 1], %r: f32[2*s0, 3] = aten.split_with_sizes.default(self=%v, split_sizes=[1, 3], dim=-1)
%i: f32[s1, 4] = aten.index.Tensor(self=%v, indices=[%n, none])
%k: f32[2*s0, 3] = aten.add.Tensor(self=%r, other=%c, alpha=s0%7)
%t: bf16[2] = aten.mul.Scalar(self=%wb, other=2.5)
output %m, %q, %i, %k, %t
)";

Graph sample() {
    Result<Graph> graph = parseGraph(kText);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(graph).value();
}

TEST_F(Pt2Writer, ReadsBackAsTheSameGraph) {
    Graph graph = sample();
    const Pt2Archive copy = copyOf(graph);
    std::string expected = print(graph);
    const std::string unused = "parameter %unused: f32[9] \"unused\"\n";
    expected.erase(expected.find(unused), unused.size());
    EXPECT_EQ(firstDifference(parseGraph(expected).value(), copy.graph), std::nullopt);
    for (const Value& value : copy.graph.values)
        EXPECT_NE(expected.find("%" + value.name), std::string::npos) << value.name;
}

TEST_F(Pt2Writer, DataIsWrittenOnceAndUnusedParametersNot) {
    const Pt2Archive copy = copyOf(sample());
    EXPECT_EQ(reads, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
    EXPECT_EQ(copy.readTensor("a").value(), std::string(48, 'a'));
    EXPECT_EQ(copy.readTensor("b").value(), "bbbb");
    EXPECT_EQ(copy.readTensor("c").value(), std::string(12, 'c'));
    EXPECT_EQ(copy.tensors.count("unused"), 0U);
}

TEST_F(Pt2Writer, TiedParametersShareTheirData) {
    const Graph graph = parseGraph("parameter %e: f32[5, 3] \"embed.weight\"\nparameter %h: f32[5, 3] "
                                   "\"head.weight\"\ninput %i: i64[s0]\n"
                                   "%x: f32[s0, 3] = aten.embedding.default(weight=%e, indices=%i)\n"
                                   "%y: f32[s0, 5] = aten.linear.default(input=%x, weight=%h)\noutput %y\n")
                            .value();
    Pt2WriteOptions options;
    options.tied = {{"head.weight", "embed.weight"}};
    ASSERT_TRUE(write(graph, options));
    EXPECT_EQ(reads.size(), 1U);
    const Pt2Archive copy = readPt2(file()).value();
    EXPECT_EQ(copy.tensors.find("embed.weight")->second.member,
              copy.tensors.find("head.weight")->second.member);
}

TEST_F(Pt2Writer, NamesThatPythonCannotHaveAreReplaced) {
    const Graph graph =
        parseGraph("input %x: f32[s0]\n%\"a.b-c\": f32[s0] = aten.neg.default(self=%x)\noutput %\"a.b-c\"\n")
            .value();
    const Pt2Archive copy = copyOf(graph);
    EXPECT_EQ(copy.graph.value(copy.graph.outputs[0]).name, "v_a_b_c");
    EXPECT_TRUE(structurallyEqual(graph, copy.graph));
}

TEST_F(Pt2Writer, FailuresLeaveTheOldFile) {
    writeFile("a.pt2", "old");
    Pt2WriteOptions options;
    options.data = [](const Input& input) -> Result<std::string> {
        return input.target == "b" ? Result<std::string>(Error{ErrorCode::badInput, "No data.", "b"})
                                   : std::string(48, 'x');
    };
    const Status failed = write(sample(), options);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "No data.");
    options.data = [](const Input&) -> Result<std::string> { return std::string("short"); };
    EXPECT_NE(write(sample(), options).error().message.find("has 5 bytes of data, but its shape needs 48"),
              std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(file()), 3U);
    EXPECT_EQ(
        std::distance(std::filesystem::directory_iterator(folder()), std::filesystem::directory_iterator()),
        1);
}

TEST_F(Pt2Writer, SizesThatNoInputGivesAreErrors) {
    const Graph graph =
        parseGraph("input %x: f32[2*s0]\n%y: f32[s0] = aten.view.default(self=%x, size=[s0])\noutput %y\n")
            .value();
    const Status written = write(graph);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("The graph cannot be written as an archive"), std::string::npos)
        << written.error().message;
    EXPECT_FALSE(std::filesystem::exists(file()));
}

} // namespace
} // namespace workbench
