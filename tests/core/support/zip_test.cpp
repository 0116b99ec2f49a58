#include "core/support/zip_reader.h"
#include "core/support/zip_writer.h"
#include "tests/support/temporary_folder.h"

#include <zip.h>

namespace workbench {
namespace {

class Zip : public TemporaryFolder {
protected:
    std::filesystem::path file() const { return folder() / "a.pt2"; }

    std::string problemOf(const std::string& bytes) const {
        writeFile("a.pt2", bytes);
        const Result<ZipReader> reader = ZipReader::open(file());
        return reader ? "none" : reader.error().message;
    }

    /// A deflated member, written by another implementation.
    void deflate(const std::string& name, const std::string& bytes) const {
        int error = 0;
        zip_t* zip = zip_open(file().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
        ASSERT_NE(zip, nullptr);
        zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
        ASSERT_EQ(zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8), 0);
        ASSERT_EQ(zip_close(zip), 0);
    }
};

TEST_F(Zip, WrittenMembersReadBack) {
    Result<ZipWriter> writer = ZipWriter::create(file());
    ASSERT_TRUE(writer);
    const std::string data(1000, 'd');
    ASSERT_TRUE(writer->add("m/data/weights/weight_0", data));
    ASSERT_TRUE(writer->add("m/empty", ""));
    ASSERT_TRUE(writer->commit());
    const ZipReader reader = ZipReader::open(file()).value();
    ASSERT_EQ(reader.members().size(), 2U);
    EXPECT_TRUE(reader.find("m/data/weights/weight_0")->stored);
    EXPECT_EQ(reader.read("m/data/weights/weight_0", 1000).value(), data);
    EXPECT_EQ(reader.read("m/empty", 0).value(), "");
    std::string middle(3, ' ');
    ASSERT_TRUE(reader.readRange("m/data/weights/weight_0", 997, std::as_writable_bytes(std::span(middle))));
    EXPECT_EQ(middle, "ddd");
}

TEST_F(Zip, DataIsAlignedTo64Bytes) {
    const std::string bytes =
        zipBytes({{"a", "AAAA"}, {"longer/name", "BBBB"}, {"c", std::string(100, 'C')}});
    for (const char* data : {"AAAA", "BBBB", "CCCC"})
        EXPECT_EQ(bytes.find(data) % 64, 0U) << data;
}

TEST_F(Zip, ChecksumIsThatOfTheStandard) {
    EXPECT_EQ(crc32("123456789"), 0xcbf43926U); // the check value of CRC-32/ISO-HDLC
    EXPECT_EQ(crc32(""), 0U);
}

TEST_F(Zip, DeflatedMembersAreRead) {
    std::string text;
    for (int i = 0; i < 5000; ++i)
        text += std::to_string(i);
    deflate("m/models/model.json", text);
    const ZipReader reader = ZipReader::open(file()).value();
    EXPECT_FALSE(reader.find("m/models/model.json")->stored);
    EXPECT_EQ(reader.read("m/models/model.json", 1 << 20).value(), text);
}

TEST_F(Zip, RefusesBombs) {
    deflate("bomb", std::string(50 << 20, '\0'));
    const Result<ZipReader> reader = ZipReader::open(file());
    ASSERT_FALSE(reader);
    EXPECT_NE(reader.error().message.find("as only a decompression bomb does"), std::string::npos)
        << reader.error().message;
}

TEST_F(Zip, RefusesNamesThatLeaveTheArchive) {
    for (const char* name : {"../evil", "m/../../evil", "/etc/passwd", "a\\..\\b", "C:x", "m/..", "a\nb"})
        EXPECT_NE(problemOf(zipBytes({{name, "x"}})).find("is refused: its name"), std::string::npos) << name;
    EXPECT_EQ(problemOf(zipBytes({{"m/..a/b..", "x"}, {"m/./c", "y"}})), "none");
}

TEST_F(Zip, RefusesDuplicateNames) {
    EXPECT_NE(problemOf(zipBytes({{"a", "x"}, {"a", "y"}})).find("two of its members have the same name"),
              std::string::npos);
}

TEST_F(Zip, RefusesWhatIsNoArchive) {
    const std::string expected =
        "Cannot read the archive " + file().string() + ": it is not a whole zip archive.";
    EXPECT_EQ(problemOf("no zip at all"), expected);
    EXPECT_EQ(problemOf(std::string(5000, '\x7f')), expected);
    EXPECT_NE(problemOf("").find("Cannot read the archive"), std::string::npos);
    const Result<ZipReader> missing = ZipReader::open(folder() / "none.pt2");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("none.pt2: No such file"), std::string::npos);
}

TEST_F(Zip, LimitsAndMissingMembersAreErrors) {
    writeFile("a.pt2", zipBytes({{"a", "12345"}}));
    const ZipReader reader = ZipReader::open(file()).value();
    EXPECT_NE(reader.read("a", 4).error().message.find("declares 5 bytes, more than the 4"),
              std::string::npos);
    EXPECT_NE(reader.read("b", 4).error().message.find("member 'b' is missing"), std::string::npos);
    std::string bytes(3, ' ');
    EXPECT_NE(reader.readRange("a", 3, std::as_writable_bytes(std::span(bytes)))
                  .error()
                  .message.find("ends before byte 6"),
              std::string::npos);
}

TEST_F(Zip, DamagedDataIsFound) {
    std::string bytes = zipBytes({{"a", std::string(500, 'x')}});
    bytes[bytes.find("xxxx") + 100] = 'y';
    writeFile("a.pt2", bytes);
    const ZipReader reader = ZipReader::open(file()).value();
    EXPECT_NE(reader.read("a", 500).error().message.find("member 'a' is damaged"), std::string::npos);
}

TEST_F(Zip, EveryTruncationIsAnError) {
    const std::string bytes = zipBytes({{"a", "12345"}, {"b/c", "678"}});
    for (std::size_t length = 0; length < bytes.size(); length += 7)
        EXPECT_NE(problemOf(bytes.substr(0, length)), "none") << length;
}

} // namespace
} // namespace workbench
