#include "runtime/program/sym_table.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

TEST(SymTable, EvaluatesEachExpressionUnderTheBindings) {
    SymTable table;
    const auto s = SymInt::symbol("s0");
    const std::int32_t twice = table.add(s + s);
    const std::int32_t seven = table.add(SymInt(7));
    EXPECT_EQ(table.add(SymInt(2) * s), twice);
    ASSERT_TRUE(table.bind({{"s0", 5}}));
    EXPECT_EQ(table.value(twice), 10);
    EXPECT_EQ(table.value(seven), 7);
    ASSERT_TRUE(table.bind({{"s0", 6}}));
    EXPECT_EQ(table.value(twice), 12);
}

TEST(SymTable, EvaluatesWhatWasAddedAfterTheLastRun) {
    SymTable table;
    ASSERT_TRUE(table.bind({{"s0", 5}}));
    const std::int32_t index = table.add(SymInt::symbol("s0"));
    ASSERT_TRUE(table.bind({{"s0", 5}}));
    EXPECT_EQ(table.value(index), 5);
}

TEST(SymTable, NamesTheSymbolWithoutAValue) {
    SymTable table;
    table.add(SymInt::symbol("u7"));
    EXPECT_EQ(table.unknownSymbol({"s0"}, 0), "u7");
    EXPECT_EQ(table.unknownSymbol({"u7"}, 0), "");
    const auto bound = table.bind({{"s0", 5}});
    ASSERT_FALSE(bound);
    EXPECT_NE(bound.error().message.find("u7"), std::string::npos);
}

} // namespace
} // namespace workbench
