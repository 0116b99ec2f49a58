#include "app/session/source_forms.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

constexpr const char* kIndex = R"({"schema": 1,
 "classes": [{"class": "LlamaMLP", "module": "m", "source": "pkg/modeling.py", "line": 3, "python": "a.py", "diff": "a.diff",
              "patterns": ["gate-up"], "instances": ["model.layers.0.mlp"]}],
 "sites": {"gate-up@model.layers.0.mlp": {"form": {"pattern": "gate-up", "python": "a.py", "diff": "a.diff"}},
           "rope@model.layers.0.self_attn": {"form": null, "reason": "the rotation is in another function"},
           "rms-norm@x": {"form": null, "partial": {"python": "a.py"}, "reason": "only a part"}}})";

class SourceFormsFolder : public TemporaryFolder {
protected:
    void SetUp() override {
        writeFile("index.json", kIndex);
        writeFile("a.py", "def forward(self):\n    pass\n");
        writeFile("a.diff", "--- a\n+++ b\n");
    }
};

TEST_F(SourceFormsFolder, EachSiteHasItsClassOrAReason) {
    const auto forms = readSourceForms(folder());
    ASSERT_TRUE(forms.ok()) << forms.error().message;
    ASSERT_EQ(forms->classes.size(), 1u);
    EXPECT_EQ(forms->classes[0].className, "LlamaMLP");
    EXPECT_EQ(forms->classes[0].diff, "--- a\n+++ b\n");
    EXPECT_EQ(forms->classes[0].instances, (std::vector<std::string>{"model.layers.0.mlp"}));
    EXPECT_EQ(forms->formOfSite.at("gate-up@model.layers.0.mlp"), 0u);
    EXPECT_EQ(forms->formOfSite.at("rms-norm@x"), 0u);
    EXPECT_EQ(forms->reasons.at("rope@model.layers.0.self_attn"), "the rotation is in another function");
    EXPECT_FALSE(forms->formOfSite.contains("rope@model.layers.0.self_attn"));
}

TEST_F(SourceFormsFolder, ABrokenFolderIsAnErrorThatNamesTheFile) {
    std::filesystem::remove(folder() / "a.diff");
    const auto missing = readSourceForms(folder());
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("a.diff"), std::string::npos);
    for (const char* index :
         {R"({"schema": 1, "sites": {}, "classes": [{"class": 3}]})",
          R"({"schema": 1, "sites": {"a": 3}, "classes": []})", R"({"schema": 1})", "[]"}) {
        writeFile("index.json", index);
        const auto wrong = readSourceForms(folder());
        ASSERT_FALSE(wrong.ok()) << index;
        EXPECT_NE(wrong.error().message.find("index.json"), std::string::npos) << wrong.error().message;
    }
    writeFile("index.json", R"({"schema": 2, "sites": {}, "classes": []})");
    EXPECT_NE(readSourceForms(folder()).error().message.find("schema must be 1"), std::string::npos);
}

} // namespace
} // namespace workbench
