#include "core/archive/pt2_reader.h"
#include "core/archive/safetensors.h"
#include "core/plan/plan.h"
#include "core/wire/frame.h"
#include "fusion/fusion.h"
#include "tests/core/archive/made_archive.h"
#include "tests/core/mutation/mutate.h"
#include "tests/support/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <functional>

/// Damaged input gives a value or one sentence: never a crash, a hang or a sanitizer's report (presets asan
/// and tsan).

namespace workbench {
namespace {

constexpr int kRounds = 1500;

class DamagedInput : public TemporaryFolder {
protected:
    /// Reads many damaged copies of `whole`. Some must be refused, or the damage would be none.
    static void damage(const std::string& whole, const std::function<Status(const std::string&)>& read) {
        ASSERT_TRUE(read(whole).ok()) << read(whole).error().message;
        int refused = 0;
        for (int seed = 0; seed < kRounds; ++seed) {
            const std::string bytes = Mutator(static_cast<std::uint64_t>(seed))(whole);
            const Status status = read(bytes);
            if (status)
                continue;
            ++refused;
            EXPECT_FALSE(status.error().message.empty()) << "seed " << seed;
            EXPECT_LT(status.error().message.size(), 1000u)
                << "seed " << seed << ": " << status.error().message;
        }
        EXPECT_GT(refused, kRounds / 10);
    }
    std::filesystem::path written(const std::string& name, const std::string& bytes) const {
        writeFile(name, bytes);
        return folder() / name;
    }
};

Status ok(const Error* error) {
    return error ? Status(*error) : Status(Ok{});
}

/// Everything that happens to a graph: printed, read again, made canonical, matched and rewritten.
Status useGraph(const Graph& graph) {
    const std::string text = print(graph);
    const Result<Graph> again = parseGraph(text);
    if (!again) {
        ADD_FAILURE() << again.error().message << '\n' << text;
        return again.error();
    }
    EXPECT_EQ(print(*again), text);
    const Result<Graph> canonical = canonicalize(graph);
    if (!canonical)
        return canonical.error();
    const Analysis analysis = analyze(*canonical);
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions[site.id] = Decision::apply;
    const auto rewritten = rewrite(*canonical, analysis, decisions);
    return ok(rewritten ? nullptr : &rewritten.error());
}

Status useArchive(const std::filesystem::path& file) {
    const Result<Pt2Archive> archive = readPt2(file);
    if (!archive)
        return archive.error();
    for (const auto& [name, tensor] : archive->tensors)
        if (const auto bytes = archive->readTensor(name); !bytes)
            return bytes.error();
    return useGraph(archive->graph);
}

TEST_F(DamagedInput, Archives) {
    damage(MadeArchive().bytes(),
           [&](const std::string& bytes) { return useArchive(written("a.pt2", bytes)); });
}

TEST_F(DamagedInput, ProgramsInWholeArchives) {
    const MadeArchive whole;
    damage(whole.program.dump(), [&](const std::string& program) {
        return useArchive(written(
            "a.pt2", zipBytes({{"m/models/model.json", program},
                               {"m/data/weights/model_weights_config.json", whole.weights.dump()},
                               {"m/data/constants/model_constants_config.json", whole.constants.dump()},
                               {"m/data/weights/weight_0", std::string(24, 'w')},
                               {"m/data/constants/tensor_0", std::string(6, 'c')}})));
    });
}

TEST_F(DamagedInput, WhatAnArchiveSaysOfItsTensors) {
    const MadeArchive whole;
    damage(whole.weights.dump(), [&](const std::string& weights) {
        return useArchive(written(
            "a.pt2", zipBytes({{"m/models/model.json", whole.program.dump()},
                               {"m/data/weights/model_weights_config.json", weights},
                               {"m/data/constants/model_constants_config.json", whole.constants.dump()},
                               {"m/data/weights/weight_0", std::string(24, 'w')},
                               {"m/data/constants/tensor_0", std::string(6, 'c')}})));
    });
}

TEST_F(DamagedInput, Checkpoints) {
    std::string header =
        R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"BF16","shape":[4],)"
        R"("data_offsets":[24,32]},"__metadata__":{"format":"pt"}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string whole(8, '\0');
    whole[0] = static_cast<char>(header.size());
    whole += header + std::string(32, 'x');
    damage(whole, [&](const std::string& bytes) -> Status {
        const auto index = SafetensorsIndex::open(written("model.safetensors", bytes));
        if (!index)
            return index.error();
        for (const auto& [name, entry] : index->tensors()) {
            EXPECT_LE(entry.bytes, bytes.size());
            std::vector<std::byte> data(entry.bytes);
            if (auto read = index->read(name, data); !read)
                return read;
        }
        return Ok{};
    });
}

TEST_F(DamagedInput, Indexes) {
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    writeFile("1.safetensors",
              std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + "data");
    damage(R"({"metadata":{"total_size":4},"weight_map":{"a":"1.safetensors"}})",
           [&](const std::string& bytes) {
               const auto index = SafetensorsIndex::open(written("model.safetensors.index.json", bytes));
               return ok(index ? nullptr : &index.error());
           });
}

TEST_F(DamagedInput, Plans) {
    std::ifstream stream(WORKBENCH_FULL_PLAN);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    damage(whole, [](const std::string& text) -> Status {
        const auto plan = planFromJson(text, "the plan");
        if (!plan)
            return plan.error();
        const auto again = planFromJson(toJson(*plan), "the plan, written again");
        EXPECT_TRUE(again.ok()) << again.error().message << '\n' << toJson(*plan);
        return Ok{};
    });
}

TEST_F(DamagedInput, GraphTexts) {
    damage(kProgramText, [](const std::string& text) -> Status {
        const auto graph = parseGraph(text);
        if (!graph)
            return graph.error();
        return useGraph(*graph);
    });
}

TEST_F(DamagedInput, Frames) {
    const Frame frame{R"({"id":7,"method":"load"})", std::vector<std::byte>(16)};
    const std::filesystem::path file = written("frames", "");
    const int out = ::open(file.c_str(), O_WRONLY);
    ASSERT_TRUE(writeFrame(out, frame).ok());
    ::close(out);
    std::ifstream stream(file, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    damage(whole, [&](const std::string& bytes) {
        const int in = ::open(written("frames", bytes).c_str(), O_RDONLY);
        const auto read = readFrame(in);
        ::close(in);
        return ok(read ? nullptr : &read.error());
    });
}

} // namespace
} // namespace workbench
