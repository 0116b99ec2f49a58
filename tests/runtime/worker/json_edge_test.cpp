#include "runtime/worker/json_edge.h"
#include "runtime/worker/weight_spec.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using Integers = std::vector<std::int64_t>;

TEST(JsonEdge, ConvertsNothingInSilence) {
    const Json object = {{"number", 2.5},
                         {"flag", true},
                         {"big", 18446744073709551615u},
                         {"mixed", {1, "2"}},
                         {"none", nullptr}};
    EXPECT_FALSE(required<std::int64_t>(object, "number"));
    EXPECT_FALSE(required<std::int64_t>(object, "flag"));
    EXPECT_FALSE(required<std::int64_t>(object, "big"));
    EXPECT_FALSE(required<double>(object, "flag"));
    EXPECT_EQ(*required<double>(object, "number"), 2.5);
    EXPECT_EQ(*required<double>(Json{{"whole", 3}}, "whole"), 3.0);
    EXPECT_FALSE(required<std::string>(object, "flag"));
    EXPECT_EQ(required<Integers>(object, "mixed").error().message, "The request's 'mixed' must be a list.");
    EXPECT_EQ(required<bool>(object, "none").error().message, "The request's 'none' is missing.");
    EXPECT_EQ(required<bool>(object, "other").error().message, "The request's 'other' is missing.");
}

TEST(JsonEdge, TakesTheFallbackOnlyForWhatIsAbsent) {
    const Json object = {{"n", 3}, {"none", nullptr}, {"text", "3"}};
    EXPECT_EQ(*optional<std::int64_t>(object, "n", 1), 3);
    EXPECT_EQ(*optional<std::int64_t>(object, "none", 1), 1);
    EXPECT_EQ(*optional<std::int64_t>(object, "other", 1), 1);
    EXPECT_FALSE(optional<std::int64_t>(object, "text", 1));
}

TEST(JsonEdge, NamesCodesAsTheProtocolDoes) {
    EXPECT_EQ(toJson(Error{ErrorCode::cancelled, "m", "w"}),
              (Json{{"code", "cancelled"}, {"message", "m"}, {"where", "w"}}));
    EXPECT_FALSE(parseJson("{\"id\": "));
    EXPECT_FALSE(parseJson("\xff\xfe"));
}

TEST(WeightSpec, ReadsTheMapOfATrace) {
    const auto spec = weightSpecFromJson(Json::parse(R"({
        "directory": "/model", "archive": "/trace.pt2", "random": {"seed": 3}, "dtype": "f32",
        "map": {"w": {"from": [{"tensor": "a"}], "op": "copy", "dim": 0, "shape": [2], "dtype": "float32"},
                "e": {"from": [{"from": [{"tensor": "b"}, {"tensor": "c"}], "op": "cat", "dim": 1}, {"tensor": "d"}], "op": "stack", "dim": 2}}})"));
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->directory, "/model");
    EXPECT_EQ(spec->seed, 3u);
    const ParameterOrigin& copy = spec->origins.at("w");
    EXPECT_EQ(copy.op, ParameterOrigin::Op::tensor);
    EXPECT_EQ(copy.tensor, "a");
    EXPECT_EQ(copy.shape, Integers{2});
    const ParameterOrigin& nested = spec->origins.at("e");
    EXPECT_EQ(nested.op, ParameterOrigin::Op::stack);
    EXPECT_EQ(nested.dim, 2);
    EXPECT_EQ(nested.parts.at(0).op, ParameterOrigin::Op::cat);
    EXPECT_EQ(nested.parts.at(0).dim, 1);
    EXPECT_EQ(nested.parts.at(0).parts.at(1).tensor, "c");
    EXPECT_EQ(nested.parts.at(1).tensor, "d");
}

TEST(WeightSpec, NamesTheEntryThatItCannotUse) {
    const auto message = [](const std::string& entry) {
        const auto spec = weightSpecFromJson(Json{{"map", {{"w", Json::parse(entry)}}}});
        return spec ? "" : spec.error().message;
    };
    EXPECT_EQ(message(R"({"from": [{"tensor": "a"}], "op": "sum"})"),
              "The weight map's entry for w has the unknown operation 'sum'.");
    EXPECT_EQ(message(R"({"from": [], "op": "cat"})"),
              "The weight map's entry for w joins 0 tensors by 'cat'.");
    EXPECT_EQ(message(R"({"from": [{"tensor": "a"}, {"tensor": "b"}], "op": "copy"})"),
              "The weight map's entry for w joins 2 tensors by 'copy'.");
    EXPECT_EQ(message(R"("a")"), "The weight map's entry for w must be an object.");
    EXPECT_EQ(message(R"({"from": [{"tensor": 3}]})"), "The request's 'tensor' must be a string.");
    std::string deep = R"({"tensor": "a"})";
    for (int i = 0; i < 100; ++i)
        deep = R"({"op": "cat", "from": [)" + deep + "]}";
    EXPECT_EQ(message(deep), "The weight map's entry for w is nested too deep.");
}

} // namespace
} // namespace workbench
