#include "app/session/file_stamps.h"
#include "app/session/own_code.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

class ModelFolder : public TemporaryFolder {};

TEST_F(ModelFolder, TellsWhichCodeWouldRun) {
    writeFile("config.json", R"({"auto_map": {"AutoConfig": "configuration_x.XConfig",
        "AutoModelForCausalLM": "org/other--modeling_x.XForCausalLM"}})");
    writeFile("modeling_x.py", "");
    writeFile("configuration_x.py", "");
    const OwnCode code = ownCodeOf(folder());
    ASSERT_EQ(code.files.size(), 2u);
    EXPECT_EQ(code.files.front().filename(), "configuration_x.py");
    EXPECT_EQ(code.classes,
              (std::vector<std::string>{"configuration_x.XConfig", "org/other--modeling_x.XForCausalLM"}));
}

TEST_F(ModelFolder, WithoutAnAutoMapNothingWouldRun) {
    writeFile("config.json", R"({"model_type": "llama"})");
    writeFile("convert.py", "");
    EXPECT_TRUE(ownCodeOf(folder()).files.empty());
    EXPECT_TRUE(ownCodeOf(folder() / "missing").files.empty());
}

TEST(UntrustedDirectory, IsThatOfTheTracersRefusal) {
    const Error refusal{ErrorCode::badInput,
                        "/m brings its own model code, which runs only with --trust-remote-code.",
                        "/m/config.json"};
    EXPECT_EQ(untrustedDirectory(refusal), "/m");
    EXPECT_TRUE(untrustedDirectory({ErrorCode::badInput, "broken", "/m/config.json"}).empty());
}

TEST_F(ModelFolder, AReplacedFileIsSeen) {
    writeFile("config.json", "{}");
    writeFile("notes.txt", "");
    TracedModel model;
    model.directory = folder();
    const FileStamps before = stampsOf(model);
    EXPECT_TRUE(changedFiles(before, stampsOf(model)).empty());
    writeFile("new.json", "{}");
    std::filesystem::rename(folder() / "new.json", folder() / "config.json"); // same size, another file
    EXPECT_EQ(changedFiles(before, stampsOf(model)), std::vector{folder() / "config.json"});
    std::filesystem::remove(folder() / "config.json");
    EXPECT_EQ(changedFiles(before, stampsOf(model)).size(), 1u);
}

} // namespace
} // namespace workbench
