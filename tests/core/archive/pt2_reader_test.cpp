#include "core/archive/pt2_reader.h"
#include "tests/core/archive/made_archive.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

using Json = nlohmann::json;

class Pt2Reader : public TemporaryFolder {
protected:
    Result<Pt2Archive> read(const std::string& bytes) const {
        writeFile("a.pt2", bytes);
        return readPt2(folder() / "a.pt2");
    }
    Result<Pt2Archive> read(const MadeArchive& archive) const { return read(archive.bytes()); }

    std::string problemOf(const MadeArchive& archive) const {
        const Result<Pt2Archive> result = read(archive);
        if (result)
            return "none";
        EXPECT_EQ(result.error().message.substr(0, 10), "Cannot use") << result.error().message;
        EXPECT_EQ(result.error().message.back(), '.');
        EXPECT_EQ(result.error().code, ErrorCode::badInput);
        return result.error().message;
    }
    testing::AssertionResult refuses(const MadeArchive& archive, const std::string& expected) const {
        const std::string problem = problemOf(archive);
        return problem.find(expected) != std::string::npos ? testing::AssertionSuccess()
                                                           : testing::AssertionFailure() << problem;
    }
};

TEST_F(Pt2Reader, GivesTheGraphThatWasWritten) {
    const Pt2Archive archive = read(MadeArchive()).value();
    // Torch orders inputs by kind, user inputs last.
    std::string expected = kProgramText;
    const std::string input = "input %ids: i64[1, s0]\n";
    expected.erase(expected.find(input), input.size());
    expected.insert(expected.find("%e:"), input);
    EXPECT_EQ(print(archive.graph), expected);
    EXPECT_EQ(archive.schemaMajor, 8);
    EXPECT_EQ(archive.torchVersion, "2.11.0");
}

TEST_F(Pt2Reader, ReadsTensorsByName) {
    const Pt2Archive archive = read(MadeArchive()).value();
    EXPECT_EQ(archive.readTensor("norm.weight").value(), std::string(24, 'w'));
    EXPECT_EQ(archive.readTensor("norm.scale").value(), std::string(6, 'c'));
    EXPECT_NE(archive.readTensor("other").error().message.find("has no data for the tensor 'other'"),
              std::string::npos);
}

TEST_F(Pt2Reader, StridedTensorsAreMadeContiguous) {
    MadeArchive made;
    made.data[0].second = std::string("0000111122223333444455556666", 28); // elements 0 to 6
    Json& meta = made.weights["config"]["norm.weight"]["tensor_meta"];
    meta["strides"] = {{{"as_int", 1}}, {{"as_int", 2}}};
    meta["storage_offset"] = {{"as_int", 1}};
    EXPECT_EQ(read(made).value().readTensor("norm.weight").value(), "111133335555222244446666");
}

TEST_F(Pt2Reader, ReadsTheRoot) {
    MadeArchive made;
    std::vector<std::pair<std::string, std::string>> flat = {{"models/model.json", made.program.dump()}};
    EXPECT_TRUE(read(zipBytes(flat)));
}

TEST_F(Pt2Reader, DropsAssertionsAndInlinesSymbolicNumbers) {
    MadeArchive made;
    Json nodes = made.graph()["nodes"];
    // view(size=[sym_size*1, 3]): the number becomes an expression, the node that makes it vanishes.
    EXPECT_EQ(nodes[0]["target"], "torch.ops.aten.sym_size.int");
    nodes.push_back({{"target", "torch.ops.aten._assert_tensor_metadata.default"},
                     {"inputs", {{{"name", "a"}, {"arg", {{"as_tensor", {{"name", "y"}}}}}, {"kind", 1}}}},
                     {"outputs", Json::array()},
                     {"metadata", Json::object()},
                     {"name", "_assert_tensor_metadata"}});
    made.graph()["nodes"] = nodes;
    const Graph graph = read(made).value().graph;
    EXPECT_EQ(graph.nodes.size(), 4U);
    EXPECT_EQ(std::get<std::vector<SymInt>>(*argument(graph.node(1), "size"))[0].text(), "s0");
}

TEST_F(Pt2Reader, ReadsModulesAndSourceFrames) {
    MadeArchive made;
    made.node("e")["metadata"]["nn_module_stack"] =
        "L__self__,,__main__.outer.<locals>.Model;L['self'].a[1, 2],norm@1,my.models.Norm";
    made.node("e")["metadata"]["stack_trace"] =
        "File \"/x/site-packages/transformers/a.py\", line 7, in forward\n    y = f(x)\n        ^^^^\n"
        "  File \"/x/site-packages/workbench_tracer/plugin.py\", line 9, in attend\n    return op(q)\n"
        "  File \"/x/my model.py\", line 12, in <lambda>\n    return self.n(x)\n"
        "  File \"/x/site-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return "
        "F.linear(input)\n";
    const Graph graph = read(made).value().graph;
    EXPECT_EQ(graph.modulePath(0), "norm");
    EXPECT_EQ(graph.modules[0].className, "Model");
    const SourceStack& stack = graph.sources[static_cast<std::size_t>(graph.node(0).source)];
    ASSERT_EQ(stack.size(), 2U);
    EXPECT_EQ(stack[0].text, "y = f(x)");
    EXPECT_EQ(stack[1], (SourceFrame{"/x/my model.py", 12, "<lambda>", "return self.n(x)"}));
}

TEST_F(Pt2Reader, InlinesRegionsThatChangeNoNumber) {
    MadeArchive made;
    const Json tensor = {{"name", "inner"}};
    Json inner = {{"inputs", {{{"as_tensor", {{"name", "arg"}}}}}},
                  {"outputs", {{{"as_tensor", {{"name", "e"}}}}}},
                  {"nodes", Json::array()},
                  {"tensor_values", {{"e", made.graph()["tensor_values"]["e"]}}},
                  {"sym_int_values", Json::object()}};
    Json cosine = made.node("y");
    cosine["target"] = "torch.ops.aten.cos.default";
    cosine["inputs"] = {{{"name", "self"}, {"arg", {{"as_tensor", {{"name", "arg"}}}}}, {"kind", 1}}};
    cosine["outputs"] = {{{"as_tensor", {{"name", "e"}}}}};
    inner["nodes"].push_back(cosine);
    Json region = {
        {"target", "torch.ops.higher_order.wrap_with_set_grad_enabled"},
        {"inputs",
         {{{"name", ""}, {"arg", {{"as_bool", false}}}, {"kind", 1}},
          {{"name", ""}, {"arg", {{"as_graph", {{"name", "submod"}, {"graph", inner}}}}}, {"kind", 1}},
          {{"name", ""}, {"arg", {{"as_tensor", {{"name", "e"}}}}}, {"kind", 1}}}},
        {"outputs", {{{"as_tensors", {{{"name", "result"}}}}}}},
        {"metadata", Json::object()},
        {"name", "wrap"}};
    Json& nodes = made.graph()["nodes"];
    nodes.push_back(region);
    made.graph()["outputs"][0] = {{"as_tensor", {{"name", "result"}}}};
    made.program["graph_module"]["signature"]["output_specs"][0] = {
        {"user_output", {{"arg", {{"as_tensor", {{"name", "result"}}}}}}}};
    const Graph graph = read(made).value().graph;
    EXPECT_EQ(graph.nodes.back().op, "aten.cos.default");
    EXPECT_EQ(graph.value(graph.outputs[0]).name, "e_r1"); // the region's name "e" was taken
    EXPECT_EQ(operand(graph.nodes.back(), "self"), graph.node(0).outputs[0]);

    nodes.back()["target"] = "torch.ops.higher_order.cond";
    EXPECT_TRUE(refuses(
        made, "node 'wrap': it runs a subgraph by the operator cond; only flat programs can be used"));
    nodes.back()["target"] = "torch.ops.higher_order.wrap_with_autocast";
    EXPECT_TRUE(refuses(made, "the operator wrap_with_autocast"));
}

TEST_F(Pt2Reader, RefusesWhatMutates) {
    MadeArchive made;
    made.node("y")["target"] = "torch.ops.aten.mul_.Tensor";
    made.node("y")["metadata"]["stack_trace"] = "File \"/src/model.py\", line 30, in forward\n    x *= 2\n";
    EXPECT_TRUE(refuses(made, "node 'y' (/src/model.py:30): the operator aten.mul_.Tensor writes to its "
                              "input; call run_decompositions({})"));
    made.node("y")["target"] = "torch.ops.aten.mul.out";
    EXPECT_TRUE(refuses(made, "the operator aten.mul.out writes to its input"));
    MadeArchive buffer;
    buffer.program["graph_module"]["signature"]["output_specs"][0] = {
        {"buffer_mutation", {{"arg", {{"name", "y"}}}, {"buffer_name", "norm.scale"}}}};
    EXPECT_TRUE(refuses(buffer, "buffer_mutation ('norm.scale')"));
}

TEST_F(Pt2Reader, RefusesBatchNormalisationInTraining) {
    MadeArchive made;
    made.node("y")["target"] = "torch.ops.aten.batch_norm.default";
    made.node("y")["inputs"].push_back({{"name", "training"}, {"arg", {{"as_bool", false}}}, {"kind", 1}});
    EXPECT_TRUE(read(made));
    made.node("y")["inputs"].back()["arg"]["as_bool"] = true;
    EXPECT_TRUE(refuses(made, "aten.batch_norm.default updates its running statistics"));
}

TEST_F(Pt2Reader, RefusesArgumentNamesThatAreNoWords) {
    MadeArchive made;
    made.node("y")["inputs"][0]["name"] = "self=1) \nx";
    EXPECT_TRUE(refuses(made, "node 'y': an argument's name is no word"));
}

TEST_F(Pt2Reader, PureOperatorsWithUnderscoresAreRead) {
    MadeArchive made;
    made.node("y")["target"] = "torch.ops.aten.__and__.Tensor";
    EXPECT_TRUE(read(made));
}

TEST_F(Pt2Reader, RefusesOtherSchemaVersions) {
    MadeArchive made;
    made.program["schema_version"]["major"] = 9;
    EXPECT_TRUE(refuses(
        made, "its schema version 9.8 is newer than 8, the newest that is known; update the workbench."));
    made.program["schema_version"]["major"] = 7;
    EXPECT_TRUE(refuses(made, "its schema version 7.8 is older than 8"));
    made.program["schema_version"] = {{"major", 8}, {"minor", 999}};
    EXPECT_TRUE(read(made));
}

TEST_F(Pt2Reader, RefusesUnknownTypesAndKinds) {
    MadeArchive made;
    made.graph()["tensor_values"]["y"]["dtype"] = 10;
    EXPECT_TRUE(refuses(made, "node 'y': the tensor 'y' has the unsupported element type complex64"));
    made.graph()["tensor_values"]["y"]["dtype"] = 4711;
    EXPECT_TRUE(refuses(made, "type code 4711"));
    made.graph()["tensor_values"]["y"]["dtype"] = 7;
    made.graph()["tensor_values"]["y"]["layout"] = 2;
    EXPECT_TRUE(refuses(made, "is not strided (layout sparse_csr)"));
    MadeArchive argument;
    argument.node("y")["inputs"][1]["arg"] = {{"as_complex", {{"real", 1.0}, {"imag", 2.0}}}};
    EXPECT_TRUE(refuses(argument, "node 'y': the argument 'other' of torch.ops.aten.mul.Tensor has a value "
                                  "that a graph cannot hold (as_complex)"));
    MadeArchive target;
    target.node("y")["target"] = "os.system";
    EXPECT_TRUE(refuses(target, "the target 'os.system' is not an operator that a graph can hold"));
    MadeArchive weight;
    weight.weights["config"]["norm.weight"]["tensor_meta"]["dtype"] = 11;
    EXPECT_TRUE(refuses(weight, "the tensor 'norm.weight' has the unsupported element type complex128"));
}

TEST_F(Pt2Reader, RefusesSizesThatDependOnData) {
    MadeArchive made;
    made.graph()["tensor_values"]["y"]["sizes"][0] = {
        {"as_expr", {{"expr_str", "Symbol('u0', integer=True)"}}}};
    EXPECT_TRUE(refuses(made, "node 'y': the size 'u0' depends on data (no input's shape gives 'u0')"));
    made.graph()["tensor_values"]["y"]["sizes"][0] = {{"as_int", -4}};
    EXPECT_TRUE(refuses(made, "the impossible size -4"));
    made.graph()["tensor_values"]["y"]["sizes"][0] = {{"as_expr", {{"expr_str", "__import__('os')"}}}};
    EXPECT_TRUE(refuses(made, "cannot be read"));
}

TEST_F(Pt2Reader, RefusesUsesOfWhatNothingMakes) {
    MadeArchive made;
    made.node("y")["inputs"][0]["arg"]["as_tensor"]["name"] = "zzz";
    EXPECT_TRUE(refuses(made, "node 'y': it uses the tensor 'zzz', which nothing before it makes"));
}

TEST_F(Pt2Reader, RefusesMissingAndShortData) {
    MadeArchive made;
    made.data.pop_back();
    EXPECT_TRUE(
        refuses(made, "the data of the tensor 'norm.scale' is missing (member 'm/data/constants/tensor_0')"));
    MadeArchive cut;
    cut.data[0].second.resize(20);
    EXPECT_TRUE(
        refuses(cut, "the tensor 'norm.weight' cannot be read: it reaches past the end of its member"));
    MadeArchive huge;
    Json& meta = huge.weights["config"]["norm.weight"]["tensor_meta"];
    meta["sizes"] = {{{"as_int", std::int64_t{1} << 40}}, {{"as_int", std::int64_t{1} << 40}}};
    EXPECT_TRUE(refuses(huge, "it is impossibly large"));
    meta["sizes"] = {{{"as_int", std::int64_t{1} << 40}}, {{"as_int", 1}}};
    meta["strides"] = {{{"as_int", 0}}, {{"as_int", 0}}};
    EXPECT_TRUE(refuses(huge, "it declares 1099511627776 elements of 6 stored ones"));
}

TEST_F(Pt2Reader, NeverReadsPickledTensors) {
    MadeArchive made;
    made.weights["config"]["norm.weight"]["use_pickle"] = true;
    const Pt2Archive archive = read(made).value();
    EXPECT_NE(
        archive.readTensor("norm.weight").error().message.find("is pickled, and pickles are never read"),
        std::string::npos);
}

TEST_F(Pt2Reader, RefusesArchivesWithoutOneProgram) {
    EXPECT_NE(read(zipBytes({{"m/other", "x"}})).error().message.find("it holds no program"),
              std::string::npos);
    EXPECT_NE(read(zipBytes({{"m/models/a.json", "{}"}, {"m/models/b.json", "{}"}}))
                  .error()
                  .message.find("several programs ('a', 'b')"),
              std::string::npos);
    EXPECT_NE(
        read(zipBytes({{"serialized_exported_program.json", "{}"}})).error().message.find("older than 2.7"),
        std::string::npos);
    EXPECT_NE(read(zipBytes({{"m/models/a.json", "[1, 2"}})).error().message.find("is not a JSON object"),
              std::string::npos);
    EXPECT_NE(read(zipBytes({{"m/models/a.json", "{}"}}))
                  .error()
                  .message.find("does not follow torch.export's schema (key 'schema_version' not found)"),
              std::string::npos);
}

TEST_F(Pt2Reader, EveryTruncationIsAnError) {
    const std::string bytes = MadeArchive().bytes();
    for (std::size_t length = 0; length < bytes.size(); length += 97)
        EXPECT_FALSE(read(bytes.substr(0, length))) << length;
}

/// Each value of the JSON in turn becomes something else: an error or a graph, never a crash.
void damage(Json& place, const std::function<void()>& check) {
    const Json before = place;
    for (const Json& wrong : {Json(nullptr), Json(-1), Json("x"), Json::array(), Json::object(), Json(1e300),
                              Json(std::int64_t{1} << 62)}) {
        place = wrong;
        check();
    }
    place = before;
    if (place.is_object() || place.is_array())
        for (Json& child : place)
            damage(child, check);
}

TEST_F(Pt2Reader, DamagedJsonNeverCrashes) {
    MadeArchive made;
    int refused = 0;
    const auto check = [&] {
        const Result<Pt2Archive> archive = read(zipBytes({{"m/models/model.json", made.program.dump()}}));
        if (archive)
            print(archive->graph);
        else
            ++refused;
    };
    damage(made.program, check);
    EXPECT_GT(refused, 500);
}

TEST_F(Pt2Reader, DamagedIndexNeverCrashes) {
    MadeArchive made;
    damage(made.weights, [&] {
        const Result<Pt2Archive> archive = read(made);
        if (archive && archive->tensors.count("norm.weight") != 0)
            (void)archive->readTensor("norm.weight").ok();
    });
}

} // namespace
} // namespace workbench
