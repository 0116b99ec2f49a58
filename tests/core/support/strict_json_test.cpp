#include "core/support/strict_json.h"
#include "tests/support/own_milliseconds.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

std::string messageOf(std::string_view text) {
    const auto value = parseJson(text, "the body");
    return value ? std::string() : value.error().message;
}

TEST(StrictJson, ReadsValuesOfEveryKind) {
    const auto value = parseJson(R"({"a": [1, -2, 3.5, "x", true, null, {}], "b": {"a": 1}})", "the body");
    ASSERT_TRUE(value);
    EXPECT_EQ(value->at("a").size(), 7U);
    EXPECT_EQ(value->at("b").at("a"), 1);
    EXPECT_TRUE(parseJson("3", "the body"));
}

TEST(StrictJson, RefusesAKeyThatOccursTwiceInOneObjectAndOnlyThere) {
    EXPECT_EQ(messageOf(R"({"a": {"b": 1, "b": 2}})"), "the body has the key 'b' twice in one object");
    EXPECT_EQ(messageOf(R"([{"a": 1}, {"a": 2, "b": {"a": 3}}])"), "");
}

TEST(StrictJson, SaysWhereTextIsNoJson) {
    EXPECT_NE(messageOf(R"({"a": 1, "a")").find("the body is not JSON: "), std::string::npos);
    EXPECT_NE(messageOf("").find("is not JSON"), std::string::npos);
    EXPECT_NE(messageOf("\"\xff\"").find("is not JSON"), std::string::npos);
    EXPECT_NE(messageOf("[1] 2").find("is not JSON"), std::string::npos);
}

TEST(StrictJson, TakesTimeByLengthAloneHoweverManyObjectsAListHas) {
    // A parser that looks through the list at the end of each object takes minutes for this.
    std::string text = "[";
    for (int i = 0; i < 300'000; ++i)
        text += "{},";
    text += "{}]";
    const double before = ownMilliseconds();
    EXPECT_TRUE(parseJson(text, "the body"));
    EXPECT_LT(ownMilliseconds() - before, 5000);
}

} // namespace
} // namespace workbench
