#include "core/support/atomic_file.h"
#include "core/support/read_file.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace workbench {
namespace {

class Files : public TemporaryFolder {
protected:
    std::size_t fileCount() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder()),
                                                      std::filesystem::directory_iterator()));
    }
};

/// A full disk, as far as a process can tell: writes past `bytes` fail.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        m_handler = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

private:
    rlimit m_before{};
    void (*m_handler)(int) = nullptr;
};

TEST_F(Files, WrittenBytesReadBack) {
    const auto file = folder() / "plan.json";
    const std::string bytes("a\0b\n", 4);
    ASSERT_TRUE(writeFileAtomically(file, bytes));
    EXPECT_EQ(readFile(file).value(), bytes);
    ASSERT_TRUE(writeFileAtomically(file, ""));
    EXPECT_EQ(readFile(file).value(), "");
    EXPECT_EQ(fileCount(), 1U);
}

TEST_F(Files, OldFileStaysWhenTheDiskIsFull) {
    const auto file = folder() / "plan.json";
    ASSERT_TRUE(writeFileAtomically(file, "old"));
    Status status = Ok{};
    {
        const FileSizeLimit limit(1000);
        status = writeFileAtomically(file, std::string(5000, 'n'));
    }
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "Cannot write " + file.string() + ": File too large.");
    EXPECT_EQ(readFile(file).value(), "old");
    EXPECT_EQ(fileCount(), 1U);
}

TEST_F(Files, UnwritablePlacesAreOneSentence) {
    const Status missing = writeFileAtomically(folder() / "no" / "plan.json", "x");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("no/plan.json: No such file or directory."), std::string::npos);
    const Status directory = writeFileAtomically(folder(), "x");
    ASSERT_FALSE(directory);
    EXPECT_NE(directory.error().message.find("Is a directory"), std::string::npos);
    EXPECT_EQ(fileCount(), 0U);
}

TEST_F(Files, AFullDeviceIsReportedAndStaysADevice) {
    const Status status = writeFileAtomically("/dev/full", "x");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "Cannot write /dev/full: No space left on device.");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Files, ReplacementKeepsPermissionsAndLinks) {
    const auto file = folder() / "plan.json";
    const auto link = folder() / "link.json";
    ASSERT_TRUE(writeFileAtomically(file, "old"));
    ::chmod(file.c_str(), 0640);
    std::filesystem::create_symlink("plan.json", link);
    ASSERT_TRUE(writeFileAtomically(link, "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(readFile(file).value(), "new");
    struct stat status = {};
    ::stat(file.c_str(), &status);
    EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(Files, AnAbandonedFileLeavesNothing) {
    {
        Result<AtomicFile> file = AtomicFile::create(folder() / "model.pt2");
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->write("half"));
        EXPECT_EQ(fileCount(), 1U);
    }
    EXPECT_EQ(fileCount(), 0U);
}

TEST_F(Files, ReadingRefusesMissingFilesFoldersAndLargeFiles) {
    EXPECT_NE(readFile(folder() / "none").error().message.find("none: No such file or directory."),
              std::string::npos);
    EXPECT_NE(readFile(folder()).error().message.find("it is a directory"), std::string::npos);
    ASSERT_TRUE(writeFileAtomically(folder() / "big", std::string(100, 'x')));
    EXPECT_NE(readFile(folder() / "big", 99).error().message.find("larger than 99 bytes"), std::string::npos);
    EXPECT_EQ(readFile(folder() / "big", 100)->size(), 100U);
}

} // namespace
} // namespace workbench
