#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace workbench {

/// An empty directory that no other test, of this process or of one beside it, has; removed at the end.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "workbench-test-XXXXXX").string();
        const char* made = ::mkdtemp(pattern.data());
        m_path = made ? made : "";
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        if (!m_path.empty())
            std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// A fixture with a directory of its own.
class TemporaryFolder : public testing::Test {
protected:
    const std::filesystem::path& folder() const { return m_directory.path(); }
    /// Without syncing: tests write many files.
    void writeFile(const std::string& name, const std::string& bytes) const {
        std::ofstream file(folder() / name, std::ios::binary);
        file << bytes;
        ASSERT_TRUE(file.flush().good()) << name;
    }

private:
    TemporaryDirectory m_directory;
};

} // namespace workbench
