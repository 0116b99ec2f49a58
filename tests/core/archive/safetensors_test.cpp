#include "core/archive/safetensors.h"
#include "tests/support/temporary_folder.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace workbench {
namespace {

using Json = nlohmann::json;

/// A file of the given header and data.
std::string fileBytes(const std::string& header, const std::string& data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
        bytes += static_cast<char>(header.size() >> (8 * i));
    return bytes + header + data;
}

Json tensor(const char* dtype, std::vector<std::int64_t> shape, std::uint64_t begin, std::uint64_t end) {
    return {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {begin, end}}};
}

class Safetensors : public TemporaryFolder {
protected:
    std::string problemOf(const std::string& name) const {
        const Result<SafetensorsIndex> index = SafetensorsIndex::open(folder() / name);
        if (index)
            return "none";
        EXPECT_EQ(index.error().code, ErrorCode::badInput);
        EXPECT_EQ(index.error().message.back(), '.');
        return index.error().message;
    }
    testing::AssertionResult refusesHeader(const Json& header, const std::string& expected) const {
        writeFile("model.safetensors", fileBytes(header.dump(), std::string(24, 'd')));
        const std::string problem = problemOf("model.safetensors");
        const bool isGood = problem.find(expected) != std::string::npos &&
                            problem.find((folder() / "model.safetensors").string()) != std::string::npos;
        return isGood ? testing::AssertionSuccess() : testing::AssertionFailure() << problem;
    }
    static std::string bytesOf(const SafetensorsIndex& index, const std::string& name) {
        std::string bytes(index.find(name)->bytes, '\0');
        const Status read = index.read(name, std::as_writable_bytes(std::span(bytes)));
        return read ? bytes : read.error().message;
    }
    void writeShards() const {
        writeFile("a.safetensors", fileBytes(Json{{"x", tensor("F32", {1}, 0, 4)}}.dump(), "xxxx"));
        writeFile("b.safetensors", fileBytes(Json{{"y", tensor("F16", {2}, 0, 4)}}.dump(), "yyyy"));
        writeFile("model.safetensors.index.json",
                  R"({"metadata": {}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
    }
};

TEST_F(Safetensors, ReadsASingleFile) {
    const Json header = {{"__metadata__", {{"format", "pt"}}},
                         {"w", tensor("BF16", {2, 3}, 0, 12)},
                         {"b", tensor("F32", {}, 12, 16)},
                         {"e", tensor("I64", {0, 4}, 16, 16)}};
    writeFile("model.safetensors", fileBytes(header.dump(), "wwwwwwwwwwwwbbbb"));
    const SafetensorsIndex index = SafetensorsIndex::open(folder()).value();
    ASSERT_EQ(index.tensors().size(), 3U);
    const SafetensorsEntry* w = index.find("w");
    EXPECT_EQ(w->dtype, ScalarType::bf16);
    EXPECT_EQ(w->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(bytesOf(index, "w"), "wwwwwwwwwwww");
    EXPECT_EQ(bytesOf(index, "b"), "bbbb");
    EXPECT_EQ(bytesOf(index, "e"), "");
    EXPECT_EQ(index.find("missing"), nullptr);
    EXPECT_EQ(index.headers()[0], header.dump());
}

TEST_F(Safetensors, ReadsShards) {
    writeShards();
    const SafetensorsIndex index = SafetensorsIndex::open(folder()).value();
    EXPECT_EQ(bytesOf(index, "x"), "xxxx");
    EXPECT_EQ(bytesOf(index, "y"), "yyyy");
    EXPECT_EQ(index.files().size(), 2U);
}

TEST_F(Safetensors, WithoutAnIndexAllFilesAreTakenTogether) {
    writeShards();
    std::filesystem::remove(folder() / "model.safetensors.index.json");
    const SafetensorsIndex index = SafetensorsIndex::open(folder()).value();
    EXPECT_EQ(bytesOf(index, "x"), "xxxx");
    EXPECT_EQ(bytesOf(index, "y"), "yyyy");
}

TEST_F(Safetensors, APipeIsRefusedWithoutWaitingForIt) {
    ASSERT_EQ(::mkfifo((folder() / "pipe.safetensors").c_str(), 0600), 0);
    EXPECT_NE(problemOf("pipe.safetensors").find("not a regular file"), std::string::npos);
    EXPECT_NE(problemOf("").find("neither"), std::string::npos) << "nor does it count as a checkpoint";
}

TEST_F(Safetensors, AMissingShardIsNamed) {
    writeShards();
    std::filesystem::remove(folder() / "b.safetensors");
    EXPECT_NE(problemOf("").find("model.safetensors.index.json: the shard b.safetensors is missing."),
              std::string::npos);
}

TEST_F(Safetensors, ABrokenIndexIsNamed) {
    writeShards();
    writeFile("model.safetensors.index.json",
              R"({"weight_map": {"x": "a.safetensors", "z": "b.safetensors"}})");
    EXPECT_NE(problemOf("").find("b.safetensors: the index says it holds 'z', which it does not."),
              std::string::npos);
    writeFile("model.safetensors.index.json", R"({"weight_map": {"x": "../a.safetensors"}})");
    EXPECT_NE(problemOf("").find("the shard '../a.safetensors' is not a file name"), std::string::npos);
    writeFile("model.safetensors.index.json", R"({"weight_map": {"x": 7}})");
    EXPECT_NE(problemOf("").find("its JSON is malformed"), std::string::npos);
    writeFile("model.safetensors.index.json", "{");
    EXPECT_NE(problemOf("").find("it is no index of shards"), std::string::npos);
    writeFile("model.safetensors.index.json", R"({"weight_map": {"x": "a.safetensors"}})");
    writeFile("a.safetensors", "abc");
    EXPECT_NE(problemOf("").find("a.safetensors: it has only 3 bytes."), std::string::npos);
}

TEST_F(Safetensors, AWrongHeaderIsRefused) {
    EXPECT_TRUE(
        refusesHeader({{"w", tensor("F32", {7}, 0, 28)}}, "the tensor 'w' reaches past the end of the file"));
    EXPECT_TRUE(refusesHeader({{"w", tensor("F32", {5}, 0, 24)}},
                              "the tensor 'w' has 24 bytes, but its shape and type need 20"));
    EXPECT_TRUE(refusesHeader({{"w", tensor("F32", {3}, 12, 0)}}, "the tensor 'w' ends before it begins"));
    EXPECT_TRUE(refusesHeader({{"v", tensor("F32", {4}, 0, 16)}, {"w", tensor("F32", {4}, 8, 24)}},
                              "the tensors 'v' and 'w' overlap"));
    EXPECT_TRUE(refusesHeader({{"w", tensor("F4", {6}, 0, 24)}},
                              "the tensor 'w' has the unsupported element type F4"));
    EXPECT_TRUE(
        refusesHeader({{"w", tensor("F32", {-6}, 0, 24)}}, "shape and type need more than there are"));
    EXPECT_TRUE(
        refusesHeader({{"w", tensor("F32", {std::int64_t{1} << 62, 16}, 0, 0)}}, "need more than there are"));
    EXPECT_TRUE(refusesHeader({{"w", {{"dtype", "F32"}, {"shape", {6}}, {"data_offsets", {-4, 20}}}}},
                              "has no valid data_offsets"));
    EXPECT_TRUE(refusesHeader({{"w", {{"dtype", "F32"}}}}, "its JSON is malformed (key 'shape' not found)"));
    EXPECT_TRUE(refusesHeader({{"w", 3}}, "its JSON is malformed"));
    EXPECT_TRUE(refusesHeader(Json::array({1}), "its header is not a JSON object"));
}

TEST_F(Safetensors, AHeaderLongerThanTheFileIsRefused) {
    writeFile("model.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
    EXPECT_NE(problemOf("model.safetensors")
                  .find("its header says it is 9223372036854775807 bytes long, in a file of 10"),
              std::string::npos);
}

TEST_F(Safetensors, MissingFilesAreNamed) {
    EXPECT_NE(problemOf("none.safetensors").find("none.safetensors: No such file or directory."),
              std::string::npos);
    EXPECT_NE(problemOf("").find("neither model.safetensors nor model.safetensors.index.json"),
              std::string::npos);
}

TEST_F(Safetensors, AFileCutShortAfterOpeningIsAnError) {
    writeFile("model.safetensors",
              fileBytes(Json{{"w", tensor("U8", {10000}, 0, 10000)}}.dump(), std::string(10000, 'w')));
    const SafetensorsIndex index = SafetensorsIndex::open(folder()).value();
    ASSERT_EQ(::truncate((folder() / "model.safetensors").c_str(), 5000), 0);
    EXPECT_NE(bytesOf(index, "w").find("it is cut short (no byte at offset 5000)"), std::string::npos);
}

TEST_F(Safetensors, ReadsPartsAndRefusesWhatIsOutside) {
    writeFile("model.safetensors", fileBytes(Json{{"w", tensor("U8", {6}, 0, 6)}}.dump(), "abcdef"));
    const SafetensorsIndex index = SafetensorsIndex::open(folder()).value();
    std::string part(3, ' ');
    ASSERT_TRUE(index.readRange("w", 2, std::as_writable_bytes(std::span(part))));
    EXPECT_EQ(part, "cde");
    EXPECT_FALSE(index.readRange("w", 4, std::as_writable_bytes(std::span(part))));
    EXPECT_FALSE(index.read("w", std::as_writable_bytes(std::span(part))));
    EXPECT_FALSE(index.read("v", std::as_writable_bytes(std::span(part))));
}

TEST_F(Safetensors, EveryTruncationAndDamageIsAnErrorOrAnIndex) {
    const std::string bytes =
        fileBytes(Json{{"w", tensor("F32", {2, 3}, 0, 24)}}.dump(), std::string(24, 'w'));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        writeFile("model.safetensors", bytes.substr(0, length));
        EXPECT_NE(problemOf("model.safetensors"), "none") << length;
    }
    for (std::size_t i = 0; i < bytes.size() - 24; ++i)
        for (char wrong : {'\0', '\xff', '9', '"', '{'}) {
            std::string damaged = bytes;
            damaged[i] = wrong;
            writeFile("model.safetensors", damaged);
            const Result<SafetensorsIndex> index = SafetensorsIndex::open(folder() / "model.safetensors");
            if (index && index->find("w"))
                bytesOf(*index, "w");
        }
}

} // namespace
} // namespace workbench
