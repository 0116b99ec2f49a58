#include "runtime/program/random_weights.h"
#include "runtime/program/weight_store.h"
#include "tests/runtime/program/support.h"
#include "tests/support/temporary_folder.h"

#include <ATen/ops/equal.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace workbench::test {
namespace {

using Op = ParameterOrigin::Op;

ParameterOrigin tensorNamed(const std::string& name) {
    return {.tensor = name};
}

/// A model directory with one safetensors file of f32 tensors, removed at the end.
class Checkpoint {
public:
    explicit Checkpoint(const std::map<std::string, at::Tensor>& tensors) {
        std::string header = "{";
        std::string data;
        for (const auto& [name, tensor] : tensors) {
            const std::size_t begin = data.size();
            data.append(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
            std::string shape;
            for (const std::int64_t size : tensor.sizes())
                shape += (shape.empty() ? "" : ",") + std::to_string(size);
            header += (header.size() > 1 ? "," : "") +
                      ("\"" + name + "\":{\"dtype\":\"" + dtypeOf(tensor) + "\",\"shape\":[" + shape) +
                      "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) +
                      "]}";
        }
        header += "}";
        std::ofstream file(directory() / "model.safetensors", std::ios::binary);
        const std::uint64_t size = header.size();
        file.write(reinterpret_cast<const char*>(&size), sizeof(size));
        file << header << data;
    }
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;

    const std::filesystem::path& directory() const { return m_directory.path(); }

private:
    static std::string dtypeOf(const at::Tensor& tensor) {
        return tensor.scalar_type() == at::kFloat      ? "F32"
               : tensor.scalar_type() == at::kBFloat16 ? "BF16"
               : tensor.scalar_type() == at::kHalf     ? "F16"
                                                       : "U8";
    }
    TemporaryDirectory m_directory;
};

Input parameter(const std::string& name, std::vector<std::string> sources = {}, std::int64_t dim = 0) {
    Input input{.kind = Input::Kind::parameter, .target = name};
    if (!sources.empty())
        input.derived = DerivedParameter{std::move(sources), dim};
    return input;
}

TensorMeta meta(std::vector<std::int64_t> shape, ScalarType dtype = ScalarType::f32) {
    return {dtype, SymShape(shape.begin(), shape.end())};
}

std::shared_ptr<WeightStore> openStore(WeightSpec spec) {
    auto store = WeightStore::open(std::move(spec));
    EXPECT_TRUE(store) << store.error().message;
    return *store;
}

std::vector<float> fetched(WeightStore& store, const Input& input, const TensorMeta& wanted) {
    const auto tensor = store.fetch(input, wanted);
    if (!tensor) {
        ADD_FAILURE() << tensor.error().message;
        return {};
    }
    return toVector(*tensor);
}

std::string fetchError(WeightStore& store, const Input& input, const TensorMeta& wanted) {
    const auto tensor = store.fetch(input, wanted);
    return tensor ? "" : tensor.error().message;
}

const std::map<std::string, at::Tensor> kTensors{{"a", floats({1, 2}, {1, 2})},
                                                 {"b", floats({3, 4}, {1, 2})},
                                                 {"half", floats({0.5f, 1}, {2}).to(at::kBFloat16)},
                                                 {"packed", floats({1, 2}, {2}).to(at::kByte)}};

TEST(WeightStore, ReadsTensorsUnderTheirOwnAndMappedNames) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory(), .origins = {{"w", tensorNamed("b")}}});
    EXPECT_EQ(fetched(*store, parameter("a"), meta({1, 2})), (std::vector<float>{1, 2}));
    EXPECT_EQ(fetched(*store, parameter("w"), meta({1, 2})), (std::vector<float>{3, 4}));
}

TEST(WeightStore, JoinsTensorsAsTheMapSays) {
    const Checkpoint checkpoint(kTensors);
    const ParameterOrigin rows{.op = Op::cat, .parts = {tensorNamed("a"), tensorNamed("b")}, .dim = 0};
    const ParameterOrigin columns{.op = Op::cat, .parts = {tensorNamed("b"), tensorNamed("a")}, .dim = 1};
    const ParameterOrigin nested{.op = Op::stack, .parts = {rows, rows}, .dim = 0};
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"rows", rows}, {"columns", columns}, {"nested", nested}}});
    EXPECT_EQ(fetched(*store, parameter("rows"), meta({2, 2})), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(fetched(*store, parameter("columns"), meta({1, 4})), (std::vector<float>{3, 4, 1, 2}));
    EXPECT_EQ(fetched(*store, parameter("nested"), meta({2, 2, 2})),
              (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(WeightStore, ConvertsBetweenFloatingPointTypesOnly) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory()});
    EXPECT_EQ(fetched(*store, parameter("half"), meta({2})), (std::vector<float>{0.5f, 1}));
    EXPECT_EQ(store->fetch(parameter("a"), meta({1, 2}, ScalarType::bf16))->scalar_type(), at::kBFloat16);
    EXPECT_NE(fetchError(*store, parameter("packed"), meta({2})).find("quantised"), std::string::npos);
}

TEST(WeightStore, GivesTiedParametersOneTensor) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"embed", tensorNamed("a")}, {"head", tensorNamed("a")}}});
    EXPECT_EQ(store->fetch(parameter("embed"), meta({1, 2}))->const_data_ptr(),
              store->fetch(parameter("head"), meta({1, 2}))->const_data_ptr());
}

TEST(WeightStore, NamesWhatIsMissingOrOfAnotherShape) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"w", tensorNamed("gone")}, {"odd", {.op = Op::unsupported}}}});
    EXPECT_NE(fetchError(*store, parameter("c"), meta({2}))
                  .find("The weights of c are missing in the checkpoint in "),
              std::string::npos);
    EXPECT_NE(fetchError(*store, parameter("w"), meta({2})).find("The weights of gone are missing"),
              std::string::npos);
    EXPECT_NE(
        fetchError(*store, parameter("odd"), meta({2})).find("conversion that the worker does not know"),
        std::string::npos);
    EXPECT_NE(fetchError(*store, parameter("a"), meta({2, 2}))
                  .find("a has the shape [1, 2] in the weights, but [2, 2] in the graph"),
              std::string::npos);
    EXPECT_FALSE(WeightStore::open({.directory = checkpoint.directory() / "nowhere"}));
    EXPECT_FALSE(WeightStore::open({.archive = checkpoint.directory() / "nowhere.pt2"}));
    const auto empty = openStore({});
    EXPECT_NE(
        fetchError(*empty, parameter("a"), meta({1})).find("neither a checkpoint nor an archive is given"),
        std::string::npos);
}

TEST(WeightStore, MergesParametersAndLetsTheSourcesLookIntoTheResult) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory()});
    const auto source = store->fetch(parameter("b"), meta({1, 2}));
    const auto merged = store->fetch(parameter("ab", {"a", "b"}), meta({2, 2}));
    ASSERT_TRUE(source && merged);
    EXPECT_EQ(toVector(*merged), (std::vector<float>{1, 2, 3, 4}));
    // `source` was fetched before there was a merged tensor, and holds no memory of its own now.
    EXPECT_EQ(toVector(*source), (std::vector<float>{3, 4}));
    EXPECT_TRUE(source->is_alias_of(*merged));
    EXPECT_TRUE(store->fetch(parameter("a"), meta({1, 2}))->is_alias_of(*merged));
    EXPECT_EQ(store->fetch(parameter("ab", {"a", "b"}), meta({2, 2}))->const_data_ptr(),
              merged->const_data_ptr());
    EXPECT_EQ(fetched(*store, parameter("ba", {"b", "a"}), meta({2, 2})), (std::vector<float>{3, 4, 1, 2}));
    EXPECT_EQ(toVector(*merged), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(fetched(*store, parameter("wide", {"a", "b"}, 1), meta({1, 4})),
              (std::vector<float>{1, 2, 3, 4}));
}

at::Tensor packedAndBack(WeightStore& store, const Input& input, const TensorMeta& wanted) {
    const auto weight = store.fetchPacked(input, wanted);
    EXPECT_TRUE(weight) << weight.error().message;
    return weight ? weight->unpacked() : at::Tensor();
}

TEST(WeightStore, PacksMatricesAsTheyAreStoredOrConverted) {
    const at::Tensor large = randomWeight(1, "large", {3000, 1001}); // several pieces of the file
    const at::Tensor half = randomWeight(1, "half", {33, 7}).to(at::kBFloat16);
    const Checkpoint checkpoint({{"large", large}, {"half", half}});
    const auto store = openStore({.directory = checkpoint.directory()});
    EXPECT_TRUE(at::equal(packedAndBack(*store, parameter("large"), meta({3000, 1001})), large));
    EXPECT_TRUE(at::equal(packedAndBack(*store, parameter("half"), meta({33, 7}, ScalarType::bf16)), half));
    EXPECT_TRUE(at::equal(packedAndBack(*store, parameter("half"), meta({33, 7})), half.to(at::kFloat)));
}

TEST(WeightStore, MergesPackedWeightsWithoutCopyingThem) {
    const Checkpoint checkpoint(kTensors);
    const ParameterOrigin rows{.op = Op::cat, .parts = {tensorNamed("a"), tensorNamed("b")}, .dim = 0};
    const auto store = openStore({.directory = checkpoint.directory(), .origins = {{"rows", rows}}});
    const auto merged = store->fetchPacked(parameter("ab", {"a", "b"}), meta({2, 2}));
    const auto b = store->fetchPacked(parameter("b"), meta({1, 2}));
    ASSERT_TRUE(merged && b);
    EXPECT_EQ(toVector(merged->unpacked()), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(merged->blocks().at(1).panels, b->blocks().at(0).panels);
    EXPECT_EQ(toVector(packedAndBack(*store, parameter("wide", {"a", "b"}, 1), meta({1, 4}))),
              (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(toVector(packedAndBack(*store, parameter("rows"), meta({2, 2}))),
              (std::vector<float>{1, 2, 3, 4}));
}

TEST(WeightStore, KnowsThePackedWeightOfATiedParameter) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"embed", tensorNamed("a")}, {"head", tensorNamed("a")}}});
    EXPECT_FALSE(store->findPacked(parameter("embed"), meta({1, 2})));
    const auto head = store->fetchPacked(parameter("head"), meta({1, 2}));
    const auto embed = store->findPacked(parameter("embed"), meta({1, 2}));
    ASSERT_TRUE(head && embed);
    EXPECT_EQ(embed->blocks().at(0).panels, head->blocks().at(0).panels);
    EXPECT_FALSE(store->findPacked(parameter("embed"), meta({1, 2}, ScalarType::bf16)));
}

TEST(WeightStore, QuantisesMatricesWhileTheyArePackedAndNothingElse) {
    const at::Tensor large = randomWeight(1, "large", {3000, 1001}); // several pieces of the file
    const at::Tensor half = randomWeight(1, "half", {33, 7}).to(at::kBFloat16);
    const Checkpoint checkpoint({{"large", large}, {"half", half}});
    const auto store = openStore({.directory = checkpoint.directory(), .format = ops::WeightFormat::int8});
    const auto quantised = [](const at::Tensor& plain) {
        return ops::PackedWeight::of(plain, ops::WeightFormat::int8).unpacked();
    };
    EXPECT_TRUE(at::equal(packedAndBack(*store, parameter("large"), meta({3000, 1001})), quantised(large)));
    EXPECT_TRUE(at::equal(packedAndBack(*store, parameter("half"), meta({33, 7}, ScalarType::bf16)),
                          quantised(half)));
    EXPECT_TRUE(
        at::equal(packedAndBack(*store, parameter("half"), meta({33, 7})), quantised(half.to(at::kFloat))));
    const auto plain = openStore({.directory = checkpoint.directory(), .format = ops::WeightFormat::int8});
    EXPECT_TRUE(at::equal(*plain->fetch(parameter("large"), meta({3000, 1001})), large));
}

TEST(WeightStore, QuantisesEachPartOfAMergedMatrixAndEachExpertByItself) {
    const at::Tensor a = randomWeight(1, "a", {20, 12}), b = randomWeight(1, "b", {8, 12});
    const Checkpoint checkpoint({{"a", a}, {"b", b}, {"c", randomWeight(1, "c", {20, 12})}});
    const ParameterOrigin experts{.op = Op::stack, .parts = {tensorNamed("a"), tensorNamed("c")}, .dim = 0};
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"experts", experts}},
                                  .format = ops::WeightFormat::int8});
    const auto first = store->fetchPacked(parameter("a"), meta({20, 12}));
    const auto merged = store->fetchPacked(parameter("ab", {"a", "b"}), meta({28, 12}));
    const auto stacked = store->fetchPacked(parameter("experts"), meta({2, 20, 12}));
    ASSERT_TRUE(first && merged && stacked);
    EXPECT_EQ(merged->blocks().at(0).panels, first->blocks().at(0).panels);
    EXPECT_EQ(stacked->type(), first->type());
    EXPECT_TRUE(at::equal(stacked->unpacked().narrow(0, 0, 20), first->unpacked()));
}

TEST(WeightStore, NamesTheTensorThatCannotBeQuantised) {
    at::Tensor a = randomWeight(1, "a", {20, 12});
    a.mutable_data_ptr<float>()[100] = std::numeric_limits<float>::quiet_NaN();
    const Checkpoint checkpoint({{"a", a}, {"b", randomWeight(1, "b", {20, 12})}});
    const ParameterOrigin experts{.op = Op::stack, .parts = {tensorNamed("b"), tensorNamed("a")}, .dim = 0};
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"w", tensorNamed("a")}, {"experts", experts}},
                                  .format = ops::WeightFormat::int8});
    const auto errorOf = [&](const Input& input, const TensorMeta& wanted) {
        const auto weight = store->fetchPacked(input, wanted);
        return weight ? std::string() : weight.error().message;
    };
    EXPECT_EQ(errorOf(parameter("w"), meta({20, 12})),
              "a has values that are infinite, not a number or beyond 2^120, which cannot be quantised: load "
              "the weights as they are (--weights stored).");
    EXPECT_NE(
        errorOf(parameter("experts"), meta({2, 20, 12})).find("Expert 1 of experts has values that are"),
        std::string::npos);
}

TEST(WeightStore, AnswersWithAnErrorWhenTheFileIsCutShortUnderneath) {
    const Checkpoint checkpoint({{"w", randomWeight(1, "w", {4000, 500})}});
    const auto store = openStore({.directory = checkpoint.directory()});
    std::filesystem::resize_file(checkpoint.directory() / "model.safetensors", 5'000'000);
    const auto weight = store->fetchPacked(parameter("w"), meta({4000, 500}));
    ASSERT_FALSE(weight);
    EXPECT_NE(weight.error().message.find("it is cut short"), std::string::npos);
}

TEST(WeightStore, NamesAPackedWeightThatIsMissingOrOfAnotherShape) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory()});
    const auto other = store->fetchPacked(parameter("a"), meta({2, 2}));
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("a has the shape [1, 2] in the weights, but [2, 2] in the graph"),
              std::string::npos);
    const auto gone = store->fetchPacked(parameter("c"), meta({2, 2}));
    ASSERT_FALSE(gone);
    EXPECT_NE(gone.error().message.find("The weights of c are missing"), std::string::npos);
}

TEST(WeightStore, CountsTheBytesThatALoadAdds) {
    const Checkpoint checkpoint(kTensors);
    const auto store = openStore({.directory = checkpoint.directory()});
    const auto graph = parseGraph(
        "input %x: f32[s0]\nparameter %a: f32[1, 2] \"a\"\nparameter %h: bf16[2] \"half\"\noutput %x\n");
    ASSERT_TRUE(graph);
    EXPECT_EQ(store->missingBytes(*graph), 12);
    ASSERT_TRUE(store->fetch(parameter("a"), meta({1, 2})));
    EXPECT_EQ(store->missingBytes(*graph), 4);
    const auto product =
        parseGraph("input %x: f32[s0, 2]\nparameter %a: f32[1, 2] \"a\"\nparameter %h: f32[2] "
                   "\"half\"\n%y: f32[s0, 1] = aten.linear(input=%x, weight=%a)\noutput %y\n");
    ASSERT_TRUE(product) << product.error().message;
    const auto quantising =
        openStore({.directory = checkpoint.directory(), .format = ops::WeightFormat::int8});
    EXPECT_EQ(quantising->missingBytes(*product), 2 + 4 + 8);
    EXPECT_EQ(quantising->missingBytes(*graph), 12);
    const auto packing = openStore({.directory = checkpoint.directory()});
    ASSERT_TRUE(packing->fetchPacked(parameter("a"), meta({1, 2})));
    EXPECT_EQ(packing->missingBytes(*product), 8);
    EXPECT_EQ(packing->missingBytes(*graph), 12); // which needs a tensor beside the panels
}

constexpr const char* kExpertInputs = R"(input %x: f32[s0, 6]
input %ids: i64[s0]
parameter %gu: f32[3, 10, 6] "gate_up"
parameter %dn: f32[3, 6, 5] "down"
)";
constexpr const char* kPickedExperts = R"(%pick: f32[s0, 10, 6] = aten.index.Tensor(self=%gu, indices=[%ids])
%col: f32[s0, 6, 1] = aten.unsqueeze.default(self=%x, dim=-1)
%y: f32[s0, 10, 1] = aten.bmm.default(self=%pick, mat2=%col)
)";

Graph graphOf(const std::string& text) {
    auto graph = parseGraph(text);
    EXPECT_TRUE(graph) << graph.error().message;
    return graph ? std::move(*graph) : Graph();
}

TEST(WeightStore, CountsTheBytesOfExpertsThatArePickedAsWhatTheyBecome) {
    const auto int8 = openStore({.seed = 1, .format = ops::WeightFormat::int8});
    const std::string pick = kExpertInputs + std::string(kPickedExperts);
    const std::int64_t down = 3 * 6 * 5 * 4; // read by nobody: a tensor
    EXPECT_EQ(int8->missingBytes(graphOf(pick + "output %y\n")), 3 * 10 * (6 + 4) + down);
    // Another use of the same weight: the tensor itself.
    EXPECT_EQ(int8->missingBytes(graphOf(pick + "output %y, %gu\n")), 3 * 10 * 6 * 4 + down);
    EXPECT_EQ(openStore({.seed = 1})->missingBytes(graphOf(pick + "output %y\n")), 3 * 10 * 6 * 4 + down);
}

TEST(WeightStore, CountsATiedEmbeddingOnceWhereverItStands) {
    const Checkpoint checkpoint({{"a", randomWeight(1, "a", {20, 12})}});
    const auto store = openStore({.directory = checkpoint.directory(),
                                  .origins = {{"embed", tensorNamed("a")}, {"head", tensorNamed("a")}},
                                  .format = ops::WeightFormat::int8});
    const std::string embed = "parameter %e: f32[20, 12] \"embed\"\n",
                      head = "parameter %h: f32[20, 12] \"head\"\n";
    const std::string rest = R"(input %ids: i64[s0]
%x: f32[s0, 12] = aten.embedding.default(weight=%e, indices=%ids)
%y: f32[s0, 20] = aten.linear.default(input=%x, weight=%h)
output %y
)";
    for (const std::string& inputs : {embed + head, head + embed})
        EXPECT_EQ(store->missingBytes(graphOf(inputs + rest)), 20 * (12 + 4));
    ASSERT_TRUE(store->fetchPacked(parameter("head"), meta({20, 12})));
    EXPECT_EQ(store->missingBytes(graphOf(embed + head + rest)), 0);
}

/// Bytes of the panels of a weight, in one block.
std::string panelsOf(const ops::PackedWeight& weight) {
    const auto& block = weight.blocks().at(0);
    return {static_cast<const char*>(block.panels.get()),
            static_cast<std::size_t>(ops::packedBytes(weight.type(), block.rows, weight.columns()))};
}

TEST(WeightStore, QuantisesTheNumbersOfTheCheckpointForEveryDtype) {
    const at::Tensor wide = randomWeight(1, "w", {40, 70});
    const Checkpoint checkpoint({{"w", wide}, {"h", wide.to(at::kHalf)}, {"b", wide.to(at::kBFloat16)}});
    const ParameterOrigin experts{.op = Op::stack, .parts = {tensorNamed("w"), tensorNamed("h")}, .dim = 0};
    const ParameterOrigin rows{.op = Op::cat, .parts = {tensorNamed("w"), tensorNamed("w")}, .dim = 0};
    for (const ops::WeightFormat format : {ops::WeightFormat::int8, ops::WeightFormat::int4})
        for (const char* name : {"w", "h", "experts", "rows"}) {
            const std::vector<std::int64_t> shape =
                name == std::string("experts") ? std::vector<std::int64_t>{2, 40, 70}
                : name == std::string("rows")  ? std::vector<std::int64_t>{80, 70}
                                               : std::vector<std::int64_t>{40, 70};
            std::vector<ops::PackedWeight> weights;
            for (const ScalarType dtype : {ScalarType::f32, ScalarType::bf16}) {
                // Each from a store of its own, which has nothing yet.
                const auto store = openStore({.directory = checkpoint.directory(),
                                              .origins = {{"experts", experts}, {"rows", rows}},
                                              .format = format});
                auto weight = store->fetchPacked(parameter(name), meta(shape, dtype));
                ASSERT_TRUE(weight) << weight.error().message;
                EXPECT_EQ(weight->dtype(), dtype == ScalarType::f32 ? at::kFloat : at::kBFloat16);
                weights.push_back(std::move(*weight));
            }
            EXPECT_EQ(panelsOf(weights[0]), panelsOf(weights[1])) << name;
        }
    // The numbers are not those of the rounded weight, which this could not tell from one that has them.
    const auto store = openStore({.directory = checkpoint.directory(), .format = ops::WeightFormat::int8});
    const auto exact = store->fetchPacked(parameter("w"), meta({40, 70}, ScalarType::bf16));
    const auto rounded = store->fetchPacked(parameter("b"), meta({40, 70}, ScalarType::bf16));
    ASSERT_TRUE(exact && rounded);
    EXPECT_NE(panelsOf(*exact), panelsOf(*rounded));
    // One store has one copy for programs of both dtypes.
    const auto other = store->fetchPacked(parameter("w"), meta({40, 70}));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->blocks().at(0).panels, exact->blocks().at(0).panels);
}

TEST(WeightStore, LeavesWhatIsAskedForAsStoredBesideWhatIsQuantised) {
    const at::Tensor w = randomWeight(1, "w", {20, 12});
    const Checkpoint checkpoint({{"w", w}});
    const auto store = openStore({.directory = checkpoint.directory(), .format = ops::WeightFormat::int8});
    const auto quantised = store->fetchPacked(parameter("w"), meta({20, 12}));
    const auto stored = store->fetchPackedAsStored(parameter("w"), meta({20, 12}));
    ASSERT_TRUE(quantised && stored);
    EXPECT_EQ(quantised->type().format, ops::WeightFormat::int8);
    EXPECT_EQ(stored->type().format, ops::WeightFormat::stored);
    EXPECT_TRUE(at::equal(stored->unpacked(), w));
}

TEST(RandomWeights, DependOnSeedNameAndShapeAlone) {
    const at::Tensor weight = randomWeight(1, "model.q_proj.weight", {8, 16});
    EXPECT_TRUE(at::equal(weight, randomWeight(1, "model.q_proj.weight", {8, 16})));
    EXPECT_FALSE(at::equal(weight, randomWeight(2, "model.q_proj.weight", {8, 16})));
    EXPECT_FALSE(at::equal(weight, randomWeight(1, "model.k_proj.weight", {8, 16})));
}

TEST(RandomWeights, HaveTheScaleThatTheyPromise) {
    const at::Tensor matrix = randomWeight(1, "w", {256, 400});
    EXPECT_NEAR(matrix.mean().item<double>(), 0, 1e-3);
    EXPECT_NEAR(matrix.std().item<double>(), 0.05, 1e-3);
    const at::Tensor norm = randomWeight(1, "model.norm.weight", {100000});
    EXPECT_NEAR(norm.mean().item<double>(), 1, 1e-2);
    EXPECT_NEAR(norm.std().item<double>(), 0.1, 1e-2);
}

TEST(RandomWeights, AreTheSameForAParameterAloneMergedAndTied) {
    const auto store =
        openStore({.origins = {{"embed", tensorNamed("e")}, {"head", tensorNamed("e")}}, .seed = 7});
    const auto a = fetched(*store, parameter("a"), meta({2, 3}));
    const auto b = fetched(*store, parameter("b"), meta({1, 3}));
    auto both = a;
    both.insert(both.end(), b.begin(), b.end());
    EXPECT_EQ(fetched(*store, parameter("ab", {"a", "b"}), meta({3, 3})), both);
    EXPECT_EQ(fetched(*store, parameter("embed"), meta({4, 3})),
              fetched(*store, parameter("head"), meta({4, 3})));
}

TEST(RandomWeights, NeedTheShapeOfAMergedWeightsSources) {
    const auto blind = openStore({.seed = 7});
    EXPECT_NE(
        fetchError(*blind, parameter("ab", {"a", "b"}), meta({3, 3})).find("The shape of a is not known"),
        std::string::npos);
    ParameterOrigin a = tensorNamed("a");
    a.shape = std::vector<std::int64_t>{2, 3};
    ParameterOrigin b = tensorNamed("b");
    b.shape = std::vector<std::int64_t>{1, 3};
    const auto told = openStore({.origins = {{"a", a}, {"b", b}}, .seed = 7});
    EXPECT_EQ(fetched(*told, parameter("ab", {"a", "b"}), meta({3, 3})).size(), 9u);
}

} // namespace
} // namespace workbench::test
