#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace workbench {

/// A fixture with an empty folder of its own, removed afterwards.
class TemporaryFolder : public testing::Test {
protected:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "workbench-test-XXXXXX").string();
        const char* made = ::mkdtemp(pattern.data());
        m_folder = made ? made : "";
    }
    ~TemporaryFolder() override {
        std::error_code ignored;
        if (!m_folder.empty())
            std::filesystem::remove_all(m_folder, ignored);
    }

    const std::filesystem::path& folder() const { return m_folder; }
    /// Without syncing: tests write many files.
    void writeFile(const std::string& name, const std::string& bytes) const {
        std::ofstream file(m_folder / name, std::ios::binary);
        file << bytes;
        ASSERT_TRUE(file.flush().good()) << name;
    }

private:
    std::filesystem::path m_folder;
};

} // namespace workbench
