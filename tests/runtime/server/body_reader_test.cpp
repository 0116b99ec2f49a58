#include "runtime/server/body_reader.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

BodyReader reader(const std::string& text) {
    return std::get<BodyReader>(BodyReader::parse(text));
}

TEST(BodyReader, TakesNullForAbsent) {
    auto body = reader(R"({"a": null, "b": null})");
    EXPECT_EQ(body.number("a", 0.5, 0, 1), 0.5);
    EXPECT_FALSE(body.text("b"));
    EXPECT_FALSE(body.finish());
}

TEST(BodyReader, KeepsTheFirstFault) {
    auto body = reader(R"({"a": "x", "b": 7})");
    body.integer("a", 0, 1);
    body.integer("b", 0, 1);
    EXPECT_EQ(body.finish()->param, "a");
}

TEST(BodyReader, NamesAKeyThatNobodyReads) {
    auto body = reader(R"({"known": 1, "new": 2})");
    body.ignore({"known"});
    EXPECT_EQ(body.finish()->param, "new");
    EXPECT_EQ(body.finish()->code, "unknown_parameter");
}

TEST(BodyReader, CountsBracketsInStringsForNothing) {
    EXPECT_TRUE(std::holds_alternative<BodyReader>(
        BodyReader::parse(R"({"a": ")" + std::string(200, '[') + R"(\"[["})")));
    EXPECT_TRUE(std::holds_alternative<ApiError>(
        BodyReader::parse(R"({"a": )" + std::string(64, '[') + std::string(64, ']') + "}")));
}

} // namespace
} // namespace workbench
