#include "app/session/source_view.h"
#include "core/support/sha256.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

constexpr const char* kText = "import torch\n\n\ndef forward(x):\r\n    return x * 2\n";

class SourceViewing : public TemporaryFolder {
protected:
    void SetUp() override {
        writeFile("modeling.py", kText);
        m_frame = {(folder() / "modeling.py").string(), 5, "forward", "return x * 2"};
        m_model.sources = {{m_frame.file, sha256Hex(kText)}};
    }
    TracedModel m_model;
    SourceFrame m_frame;
};

TEST_F(SourceViewing, ShowsTheFileThatWasTraced) {
    const SourceView view = sourceView(m_model, m_frame);
    EXPECT_EQ(view.notShown, "");
    ASSERT_EQ(view.lines.size(), 5u);
    EXPECT_EQ(view.firstLine, 1);
    EXPECT_EQ(view.lines[3], "def forward(x):");
    EXPECT_EQ(view.lines[static_cast<std::size_t>(view.line - view.firstLine)], "    return x * 2");
}

TEST_F(SourceViewing, AFileThatWasChangedIsNotShown) {
    std::string changed = "# new first line\n";
    changed += kText;
    writeFile("modeling.py", changed);
    const SourceView view = sourceView(m_model, m_frame);
    EXPECT_NE(view.notShown.find("changed since"), std::string::npos) << view.notShown;
    EXPECT_EQ(view.lines, (std::vector<std::string>{"return x * 2"}));
    EXPECT_EQ(view.firstLine, 5);
}

TEST_F(SourceViewing, AFileWithoutARecordedHashIsNotEvenRead) {
    m_model.sources = nlohmann::json::object();
    EXPECT_NE(sourceView(m_model, m_frame).notShown.find("no hash"), std::string::npos);
    m_model.sources = nlohmann::json();
    EXPECT_NE(sourceView(m_model, m_frame).notShown.find("no hash"), std::string::npos);
}

TEST_F(SourceViewing, AFileThatIsGoneIsSaidToBe) {
    std::filesystem::remove(folder() / "modeling.py");
    const SourceView view = sourceView(m_model, m_frame);
    EXPECT_NE(view.notShown.find("modeling.py"), std::string::npos) << view.notShown;
    EXPECT_EQ(view.lines.size(), 1u);
}

TEST_F(SourceViewing, ALineBehindTheEndIsNotMarked) {
    m_frame.line = 99;
    EXPECT_NE(sourceView(m_model, m_frame).notShown.find("no line 99"), std::string::npos);
}

} // namespace
} // namespace workbench
